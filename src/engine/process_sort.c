/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys have three words, of which one nearly always decides. So a part of that
 * word and an event's index are packed into one number, plain numbers are
 * sorted, and where events agree on the word they are sorted by the next: first
 * by time, then by process, then by tie. Optimistically two events may share a
 * key for a while, of which one has been taken back: the engine's own word tells
 * them apart.
 */
#include "engine/process_queue.h"

#include <stdlib.h>

#define INDEX_MASK (((uint64_t)1 << QUEUE_INDEX_BITS) - 1)
#define KEY_WORDS 4
enum { FEW = 24 };

static void insertion_sort(uint64_t *numbers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t number = numbers[i];
        uint32_t at = i;
        for (; at && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* All numbers differ in their index bits. */
static void numbers_sort(uint64_t *numbers, uint32_t count)
{
    while (count > FEW) {
        uint64_t pivot = median(numbers[0], numbers[count / 2], numbers[count - 1]);
        uint32_t low = 0, high = count - 1;
        for (;;) {
            while (numbers[low] < pivot)
                low++;
            while (numbers[high] > pivot)
                high--;
            if (low >= high)
                break;
            uint64_t swapped = numbers[low];
            numbers[low++] = numbers[high];
            numbers[high--] = swapped;
        }
        uint32_t left = high + 1;
        if (left < count - left) { /* the larger part is left to the loop: the depth stays logarithmic */
            numbers_sort(numbers, left);
            numbers += left, count -= left;
        } else {
            numbers_sort(numbers + left, count - left);
            count = left;
        }
    }
    insertion_sort(numbers, count);
}

static void sort_by(uint32_t word, uint64_t *order, const uint64_t *events, uint32_t words, uint32_t count);

/* Runs of events that the sorted number does not tell apart. */
static void sort_equals(uint32_t word, uint64_t *order, const uint64_t *events, uint32_t words, uint32_t count)
{
    for (uint32_t first = 0, next; first < count; first = next) {
        uint64_t number = order[first] >> QUEUE_INDEX_BITS;
        for (next = first + 1; next < count && order[next] >> QUEUE_INDEX_BITS == number; next++)
            ;
        if (next - first > 1)
            sort_by(word, order + first, events, words, next - first);
    }
}

static void sort_by(uint32_t word, uint64_t *order, const uint64_t *events, uint32_t words, uint32_t count)
{
    FW_CHECK(word < KEY_WORDS, "tick %llu: two events of process %llu have the same key",
             (unsigned long long)events[(order[0] & INDEX_MASK) * words],
             (unsigned long long)events[(order[0] & INDEX_MASK) * words + 1]);
    uint64_t lowest = UINT64_MAX, highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = events[(order[i] & INDEX_MASK) * words + word];
        lowest = value < lowest ? value : lowest;
        highest = value > highest ? value : highest;
    }
    if (lowest == highest) {
        sort_by(word + 1, order, events, words, count);
        return;
    }
    uint32_t range_bits = 64 - (uint32_t)__builtin_clzll(highest - lowest);
    uint32_t dropped = range_bits > 64 - QUEUE_INDEX_BITS ? range_bits - (64 - QUEUE_INDEX_BITS) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t index = order[i] & INDEX_MASK;
        order[i] = (events[index * words + word] - lowest) >> dropped << QUEUE_INDEX_BITS | index;
    }
    numbers_sort(order, count);
    /* where low bits were dropped the same word decides again, in a smaller range */
    sort_equals(dropped ? word : word + 1, order, events, words, count);
}

void events_sort(uint64_t *order, const uint64_t *events, uint32_t words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (count > 1)
        sort_by(0, order, events, words, count);
}
