/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, see dumpi_requests.h: a queue for each id, whose entries lie in one array. */
#include "workload/trace/reader/dumpi/dumpi_requests.h"

#include <stdlib.h>

enum { REQUEST_NULL = 1 };

void dumpi_requests_init(struct dumpi_requests *requests)
{
    *requests = (struct dumpi_requests){0};
    table_init(&requests->by_id, sizeof(struct dumpi_request), NULL);
}

void dumpi_requests_release(struct dumpi_requests *requests)
{
    table_release(&requests->by_id);
    free(requests->pending);
}

struct dumpi_request *dumpi_request_of(struct dumpi_requests *requests, int64_t id)
{
    return id == REQUEST_NULL ? NULL : table_put(&requests->by_id, &(struct table_key){{(uint64_t)id}});
}

struct dumpi_request *dumpi_window_of(struct dumpi_requests *windows, int64_t handle)
{
    return table_put(&windows->by_id, &(struct table_key){{(uint64_t)handle}});
}

static uint32_t pending_take(struct dumpi_requests *requests)
{
    if (requests->first_free) {
        uint32_t index = requests->first_free - 1;
        requests->first_free = requests->pending[index].next;
        return index;
    }
    if (requests->count == requests->room) {
        requests->room = requests->room ? 2 * requests->room : 64;
        requests->pending = memory_resize(requests->pending, requests->room * sizeof(*requests->pending));
    }
    return requests->count++;
}

void dumpi_request_start(struct dumpi_requests *requests, struct dumpi_request *request, uint32_t task)
{
    uint32_t index = pending_take(requests);
    requests->pending[index] = (struct dumpi_pending){.task = task};
    if (request->last)
        requests->pending[request->last - 1].next = index + 1;
    else
        request->first = index + 1;
    request->last = index + 1;
}

bool dumpi_request_end(struct dumpi_requests *requests, struct dumpi_request *request, uint32_t *task)
{
    if (!request->first)
        return false;
    uint32_t index = request->first - 1;
    struct dumpi_pending *pending = &requests->pending[index];
    *task = pending->task;
    request->first = pending->next;
    if (!request->first)
        request->last = 0;
    pending->next = requests->first_free;
    requests->first_free = index + 1;
    return true;
}
