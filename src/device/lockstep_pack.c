/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that share a device, see lockstep.h. Each is built and decided by a thread of its own, as if it were alone; here these
 * threads meet. When all have come, those whose networks have one shape make a pack: one text, one piece of each kind of memory,
 * one launch a tick. A pack goes on when each of its runs waits for a tick to come, as far as the nearest of those. Packs follow
 * one another. A run alone is a pack of one.
 */
#include "device/lockstep.h"

#include "base/machine.h"

#include <pthread.h>
#include <string.h>

#define FLUSH_TICKS 256 /* launches that are handed over at once */
#define PIECE_TICKS 16  /* that are run before the device is waited for, at first */
#define PIECE_MOST 65536
#define PAUSE_SECONDS 0.4 /* between two of those, about */
#define ALIGNMENT 128

enum { ARGUMENT_FIRST_RUN = LOCKSTEP_BUFFER_COUNT, ARGUMENT_OWN };

struct lockstep_batch {
    pthread_mutex_t lock; /* of all that follows, the device, and packs */
    pthread_cond_t changed;
    struct arena arena;
    struct device *device;  /* owned; NULL: nobody has asked for it yet */
    uint32_t number;        /* of it */
    uint32_t expected;      /* threads that have neither come nor left */
    struct lockstep **come; /* those that wait for a pack, as many as `count` */
    uint32_t count;
    struct lockstep_pack *pack; /* owned: the one at work */
};

struct lockstep_turn {
    pthread_cond_t reached;
};

static void enter(struct lockstep *l)
{
    pthread_mutex_lock(&l->batch->lock);
    if (l->batch->device)
        device_tell(l->batch->device, l->errors);
}
static void leave(struct lockstep *l) { pthread_mutex_unlock(&l->batch->lock); }
static bool leave_with(struct lockstep *l, bool result)
{
    leave(l);
    return result;
}

/* ---- a run's part of the memory ---- */

static uint64_t part_of(const struct lockstep *l, enum lockstep_buffer buffer)
{
    return l->number * l->pack->each[buffer];
}

bool lockstep_read(struct lockstep *l, enum lockstep_buffer buffer, uint64_t offset, void *into, uint64_t bytes)
{
    enter(l);
    return leave_with(l, buffer_read(l->pack->buffers[buffer], part_of(l, buffer) + offset, into, bytes));
}

bool lockstep_write(struct lockstep *l, enum lockstep_buffer buffer, uint64_t offset, const void *from, uint64_t bytes)
{
    enter(l);
    return leave_with(l, buffer_write(l->pack->buffers[buffer], part_of(l, buffer) + offset, from, bytes));
}

bool lockstep_fill(struct lockstep *l, enum lockstep_buffer buffer, uint64_t offset, uint64_t bytes, uint8_t byte)
{
    enter(l);
    return leave_with(l, buffer_fill(l->pack->buffers[buffer], part_of(l, buffer) + offset, bytes, byte));
}

static bool launch(const struct lockstep_pack *pack, enum lockstep_kernel kernel, size_t items, uint32_t argument,
                   uint32_t first, uint32_t runs)
{
    struct device_kernel *k = pack->kernels[kernel];
    return kernel_set(k, ARGUMENT_FIRST_RUN, &first, sizeof first) &&
           kernel_set(k, ARGUMENT_OWN, &argument, sizeof argument) &&
           kernel_launch(k, items, pack->sharing.group, runs);
}

bool lockstep_launch(struct lockstep *l, enum lockstep_kernel kernel, size_t items, uint32_t argument)
{
    enter(l);
    return leave_with(l, launch(l->pack, kernel, items, argument, l->number, 1));
}

bool lockstep_gives(struct lockstep *l, uint64_t bytes)
{
    enter(l);
    return leave_with(l, device_gives(l->device, bytes));
}

/* Each run's numbers say where its part of a buffer lies. */
static bool tell_facts(struct lockstep *l)
{
#define SET_EACH_(name, type, member, what) l->facts.each_##member = l->pack->each[BUFFER_##name];
    LOCKSTEP_BUFFERS(SET_EACH_)
    return buffer_write(l->pack->buffers[BUFFER_FACTS], part_of(l, BUFFER_FACTS), &l->facts, sizeof l->facts);
}

bool lockstep_tell_facts(struct lockstep *l)
{
    enter(l);
    return leave_with(l, tell_facts(l));
}

static uint64_t aligned(const struct lockstep_pack *pack, uint64_t bytes)
{
    return pack->count == 1 ? bytes : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool copy_parts(const struct lockstep_pack *pack, struct device_buffer *from, uint64_t each,
                       struct device_buffer *to, uint64_t wider)
{
    void *part = memory_take(each ? each : 1);
    bool is_good = true;
    for (uint64_t i = 0; i < pack->count && is_good; i++)
        is_good = buffer_read(from, i * each, part, each) && buffer_write(to, i * wider, part, each);
    memory_give(part);
    return is_good;
}

/* Where a kind of memory has moved: its place in the numbers of each run, whatever else its own thread has in mind for them. */
static bool tell_each(const struct lockstep_pack *pack, enum lockstep_buffer buffer)
{
    static const size_t places[] = {
#define EACH_AT_(name, type, member, what) offsetof(struct lockstep_facts, each_##member),
        LOCKSTEP_BUFFERS(EACH_AT_)};
    bool is_good = true;
    for (uint64_t i = 0; i < pack->count && is_good; i++)
        is_good = buffer_write(pack->buffers[BUFFER_FACTS], i * pack->each[BUFFER_FACTS] + places[buffer],
                               &pack->each[buffer], sizeof pack->each[buffer]);
    return is_good;
}

bool lockstep_widen(struct lockstep *l, enum lockstep_buffer buffer, uint64_t bytes)
{
    struct lockstep_pack *pack = l->pack;
    enter(l);
    if (bytes <= pack->each[buffer])
        return leave_with(l, true);
    uint64_t wider = aligned(pack, bytes);
    struct device_buffer *new = device_buffer_create(pack->device, wider * pack->count, lockstep_buffer_names[buffer]);
    bool is_good = new &&copy_parts(pack, pack->buffers[buffer], pack->each[buffer], new, wider);
    if (!is_good)
        return leave_with(l, false);
    device_buffer_release(pack->buffers[buffer]);
    pack->buffers[buffer] = new;
    pack->each[buffer] = wider;
    for (uint32_t i = 0; i < LOCKSTEP_KERNELS && is_good; i++)
        is_good = kernel_set_buffer(pack->kernels[i], buffer, new);
    return leave_with(l, is_good && tell_each(pack, buffer));
}

/* ---- time ---- */

static struct lockstep_clock clock_of(const struct lockstep *l, tick_t last)
{
    const struct application *application = &l->workload->applications[0];
    enum phase phase = application->phase;
    return (struct lockstep_clock){
        .now = l->now,
        .last = last,
        .window_start = phase >= PHASE_GENERATING ? application->phase_start[PHASE_GENERATING] : FW_NEVER,
        .window_end = phase >= PHASE_FINISHING ? application->phase_start[PHASE_FINISHING] : FW_NEVER,
        .is_draining = phase == PHASE_DRAINING,
    };
}

bool lockstep_tell_time(struct lockstep *l)
{
    const struct lockstep_clock clock = clock_of(l, l->now);
    return lockstep_write(l, BUFFER_CLOCK, 0, &clock, sizeof clock);
}

/* Of all runs; nothing is done in those that are over. */
static bool tell_times(const struct lockstep_pack *pack)
{
    uint64_t each = pack->each[BUFFER_CLOCK];
    char *clocks = memory_take(each * pack->count);
    for (uint32_t i = 0; i < pack->count; i++) {
        const struct lockstep *l = pack->runs[i];
        const struct lockstep_clock clock = l ? clock_of(l, l->end) : (struct lockstep_clock){.now = 1};
        memcpy(clocks + i * each, &clock, sizeof clock);
    }
    bool is_good = buffer_write(pack->buffers[BUFFER_CLOCK], 0, clocks, each * pack->count);
    memory_give(clocks);
    return is_good;
}

static bool launch_ticks(const struct lockstep_pack *pack, const struct lockstep_facts *f, tick_t ticks)
{
    const struct lockstep_sharing *by = &pack->sharing;
    size_t terminals = (f->terminals + by->group - 1) / by->group * by->group;
    size_t items = f->routers * by->team + (pack->is_one_kernel ? terminals : 0);
    bool is_good = tell_times(pack);
    for (uint32_t tick = 0; tick < ticks && is_good; tick++) {
        is_good = launch(pack, KERNEL_ROUTERS, items, tick, 0, pack->count);
        if (!pack->is_one_kernel)
            is_good = is_good && launch(pack, KERNEL_TERMINALS, f->terminals, tick, 0, pack->count);
        if (tick % FLUSH_TICKS == FLUSH_TICKS - 1)
            is_good = is_good && device_flush(pack->device);
    }
    return is_good;
}

/* Between grid points that are far apart: waits for the device, so that interrupts are seen in time. */
static bool wait_for_device(struct lockstep_pack *pack, double start)
{
    bool is_good = device_finish(pack->device);
    double seconds = wall_seconds() - start;
    if (seconds < PAUSE_SECONDS / 4 && pack->piece_ticks < PIECE_MOST)
        pack->piece_ticks *= 2;
    if (seconds > PAUSE_SECONDS && pack->piece_ticks > 1)
        pack->piece_ticks /= 2;
    return is_good;
}

/* Runs whose tick has been reached go on with what they do there. True: there is one. */
static bool release_runs(struct lockstep_pack *pack, bool all)
{
    uint32_t before = pack->waiting;
    for (uint32_t i = 0; i < pack->count; i++) {
        struct lockstep *l = pack->runs[i];
        if (!l || (!all && l->now <= l->end))
            continue;
        l->is_stopped = l->now <= l->end;
        l->is_waiting = false;
        pack->waiting--;
        pthread_cond_signal(&l->turn->reached);
    }
    return pack->waiting < before;
}

/* All runs wait: a piece, up to the nearest tick that one of them waits for. One of their threads does it. */
static void run_piece(struct lockstep_pack *pack, struct lockstep *leader)
{
    double start = wall_seconds();
    tick_t ticks = pack->piece_ticks;
    if (!pack->has_begun)
        pack->build_seconds = device_seconds(pack->device);
    pack->has_begun = true;
    for (uint32_t i = 0; i < pack->count; i++) {
        const struct lockstep *l = pack->runs[i];
        if (l && l->end - l->now + 1 < ticks)
            ticks = l->end - l->now + 1;
    }
    lockstep_need(leader, launch_ticks(pack, &leader->facts, ticks));
    pack->is_counted = false;
    for (uint32_t i = 0; i < pack->count; i++)
        if (pack->runs[i])
            pack->runs[i]->now += ticks;
    if (release_runs(pack, false))
        return;
    lockstep_need(leader, wait_for_device(pack, start));
    if (lockstep_is_interrupted(leader))
        release_runs(pack, true);
}

void lockstep_advance(struct lockstep *l, tick_t end)
{
    struct lockstep_pack *pack = l->pack;
    enter(l);
    l->end = end;
    l->is_waiting = true;
    l->is_stopped = false;
    pack->waiting++;
    while (l->is_waiting)
        if (pack->waiting < pack->live) {
            pthread_cond_wait(&l->turn->reached, &l->batch->lock);
        } else {
            device_tell(pack->device, l->errors);
            run_piece(pack, l);
        }
    leave(l);
}

/* ---- sums ---- */

static bool count_runs(struct lockstep_pack *pack)
{
    uint64_t sums = pack->each[BUFFER_SUMS] * pack->count, faults = pack->each[BUFFER_FAULT] * pack->count;
    if (!pack->sums) {
        pack->sums = memory_take(sums);
        pack->faults = memory_take(faults);
    }
    return tell_times(pack) && buffer_fill(pack->buffers[BUFFER_SUMS], 0, sums, 0) &&
           launch(pack, KERNEL_COUNT, pack->counting, 0, 0, pack->count) &&
           buffer_read(pack->buffers[BUFFER_SUMS], 0, pack->sums, sums) &&
           buffer_read(pack->buffers[BUFFER_FAULT], 0, pack->faults, faults);
}

void lockstep_sum(struct lockstep *l)
{
    struct lockstep_pack *pack = l->pack;
    enter(l);
    if (!pack->is_counted)
        lockstep_need(l, count_runs(pack));
    pack->is_counted = true;
    memcpy(l->sums, pack->sums + part_of(l, BUFFER_SUMS), lockstep_bytes(l, BUFFER_SUMS));
    memcpy(&l->fault, pack->faults + part_of(l, BUFFER_FAULT), sizeof l->fault);
    leave(l);
}

/* ---- packs ---- */

/* Whether one text serves both, and their work-items are as many. */
static bool are_alike(const struct lockstep *a, const struct lockstep *b)
{
    const struct lockstep_facts *f = &a->facts, *g = &b->facts;
    return f->routers == g->routers && f->terminals == g->terminals && f->ports == g->ports &&
           f->num_vcs == g->num_vcs && memcmp(&a->asked, &b->asked, sizeof a->asked) == 0 &&
           a->network->routing.ops == b->network->routing.ops && strcmp(a->settings.chars, b->settings.chars) == 0;
}

/* Whether the device has room for so many of them; one alone has been looked at. */
static bool has_room(const struct lockstep_pack *pack, uint32_t runs)
{
    const struct device_facts *facts = device_facts(pack->device);
    uint64_t bytes = 0, largest = 0;
    for (uint32_t i = 0; i < LOCKSTEP_BUFFER_COUNT; i++) {
        uint64_t each = (pack->each[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        bytes += each;
        largest = each > largest ? each : largest;
    }
    return bytes <= facts->memory_bytes / runs && largest <= facts->largest_bytes / runs;
}

/* Takes a run in, if it is of the shape of the others and there is room for it. */
static bool take_in(struct lockstep_pack *pack, struct lockstep *l)
{
    uint64_t before[LOCKSTEP_BUFFER_COUNT];
    memcpy(before, pack->each, sizeof before);
    if (pack->count && !are_alike(pack->runs[0], l))
        return false;
    for (uint32_t i = 0; i < LOCKSTEP_BUFFER_COUNT; i++)
        if (lockstep_bytes(l, i) > pack->each[i])
            pack->each[i] = lockstep_bytes(l, i);
    if (!pack->count || has_room(pack, pack->count + 1)) {
        pack->runs[pack->count++] = l;
        return true;
    }
    memcpy(pack->each, before, sizeof before);
    return false;
}

static void release_pack(struct lockstep_pack *pack)
{
    for (uint32_t i = 0; i < LOCKSTEP_BUFFER_COUNT; i++)
        device_buffer_release(pack->buffers[i]);
    source_release(&pack->source);
    memory_give(pack->sums);
    memory_give(pack->faults);
    memory_give(pack->runs);
    memory_give(pack);
}

/* Of the first of those who have come, and all that can go with it. */
static struct lockstep_pack *choose_pack(struct lockstep_batch *batch)
{
    struct lockstep_pack *pack = memory_take(sizeof *pack);
    uint32_t left = 0;
    pack->device = batch->device;
    pack->runs = memory_take(sizeof(struct lockstep *) * batch->count);
    for (uint32_t i = 0; i < batch->count; i++)
        if (!take_in(pack, batch->come[i]))
            batch->come[left++] = batch->come[i];
    batch->count = left;
    for (uint32_t i = 0; i < LOCKSTEP_BUFFER_COUNT; i++)
        if (i != BUFFER_FACTS) /* which are one behind the other */
            pack->each[i] = aligned(pack, pack->each[i]);
    pack->piece_ticks = PIECE_TICKS;
    pack->live = pack->count;
    return pack;
}

static bool make_buffers(struct lockstep_pack *pack)
{
    for (uint32_t i = 0; i < LOCKSTEP_BUFFER_COUNT; i++) {
        uint64_t bytes = pack->each[i] * pack->count;
        pack->buffers[i] =
            device_buffer_create(pack->device, bytes ? bytes : sizeof(uint64_t), lockstep_buffer_names[i]);
        if (!pack->buffers[i])
            return false;
    }
    return true;
}

static bool make_kernels(struct lockstep_pack *pack, struct errors *errors)
{
    static const char *const names[LOCKSTEP_KERNELS] = {
        "lockstep_routers", "lockstep_terminals", "lockstep_withdraw", "lockstep_drop_timers",
        "lockstep_count",   "lockstep_next",      "lockstep_flits",    "lockstep_idle"};
    double start = wall_seconds();
    uint32_t registers = device_facts(pack->device)->limits_registers ? pack->sharing.registers : 0;
    struct arena scratch = {0};
    const char *options = registers ? arena_format(&scratch, "-cl-nv-maxrregcount=%u", registers) : "";
    bool is_good = device_compile(pack->device, &pack->source, options);
    arena_release(&scratch);
    if (!is_good)
        return false;
    pack->compile_seconds = wall_seconds() - start;
    for (uint32_t i = 0; i < LOCKSTEP_KERNELS; i++) {
        struct device_kernel *kernel = pack->kernels[i] = device_kernel(pack->device, names[i]);
        if (!kernel)
            return false;
        for (uint32_t buffer = 0; buffer < LOCKSTEP_BUFFER_COUNT; buffer++)
            if (!kernel_set_buffer(kernel, buffer, pack->buffers[buffer]))
                return false;
        if (kernel_most_items(kernel) < pack->sharing.group)
            return errors_add(errors, "%s runs kernel %s in groups of at most %zu work-items, and %u are needed",
                              device_facts(pack->device)->name, names[i], kernel_most_items(kernel),
                              pack->sharing.group);
    }
    return true;
}

/* The next pack, when nobody is to come any more and none is at work. What goes wrong is told to all of its runs. */
static void make_pack(struct lockstep_batch *batch)
{
    while (!batch->expected && !batch->pack && batch->count) {
        struct lockstep_pack *pack = choose_pack(batch);
        struct errors errors = {.arena = &batch->arena};
        device_tell(batch->device, &errors);
        bool is_good = make_buffers(pack) && lockstep_make_source(pack, &errors) && make_kernels(pack, &errors);
        for (uint32_t i = 0; i < pack->count; i++) {
            struct lockstep *l = pack->runs[i];
            l->number = i;
            l->pack = is_good ? pack : NULL;
            l->has_failed = !is_good;
            errors_add_all(l->errors, &errors);
        }
        if (is_good)
            batch->pack = pack;
        else
            release_pack(pack);
        pthread_cond_broadcast(&batch->changed);
    }
}

bool lockstep_join(struct lockstep *l)
{
    struct lockstep_batch *batch = l->batch;
    enter(l);
    batch->come[batch->count++] = l;
    batch->expected--;
    make_pack(batch);
    while (!l->pack && !l->has_failed)
        pthread_cond_wait(&batch->changed, &batch->lock);
    return leave_with(l, l->pack);
}

void lockstep_leave(struct lockstep *l)
{
    struct lockstep_pack *pack = l->pack;
    pthread_cond_destroy(&l->turn->reached);
    if (!pack)
        return;
    enter(l);
    pack->runs[l->number] = NULL;
    if (--pack->live == 0) {
        release_pack(pack);
        l->batch->pack = NULL;
        make_pack(l->batch);
    } else if (pack->waiting == pack->live) {
        for (uint32_t i = 0; i < pack->count; i++)
            if (pack->runs[i]) { /* any of them takes the lead */
                pthread_cond_signal(&pack->runs[i]->turn->reached);
                break;
            }
    }
    leave(l);
}

/* ---- batches ---- */

struct lockstep_batch *lockstep_batch_open(uint32_t runs)
{
    struct lockstep_batch *batch = memory_take(sizeof *batch);
    pthread_mutex_init(&batch->lock, NULL);
    pthread_cond_init(&batch->changed, NULL);
    batch->expected = runs;
    batch->come = memory_take(sizeof(struct lockstep *) * runs);
    return batch;
}

void lockstep_batch_leave(struct lockstep_batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    batch->expected--;
    make_pack(batch);
    pthread_mutex_unlock(&batch->lock);
}

void lockstep_batch_close(struct lockstep_batch *batch)
{
    opencl_close(batch->device);
    pthread_cond_destroy(&batch->changed);
    pthread_mutex_destroy(&batch->lock);
    memory_give(batch->come);
    arena_release(&batch->arena);
    memory_give(batch);
}

bool lockstep_open(struct lockstep *l, uint32_t number)
{
    struct lockstep_batch *batch = l->batch;
    l->turn = arena_array(l->arena, struct lockstep_turn, 1);
    pthread_cond_init(&l->turn->reached, NULL);
    enter(l);
    if (!batch->device) {
        batch->device = opencl_open(number, l->errors);
        batch->number = number;
    } else if (batch->number != number) {
        errors_add(l->errors, "simulator.device: found opencl:%u, expected opencl:%u as in the other runs of the batch",
                   number, batch->number);
        return leave_with(l, false);
    }
    l->device = batch->device;
    return leave_with(l, l->device);
}

void lockstep_use(struct lockstep *l, struct lockstep_use *use)
{
    enter(l);
    *use = (struct lockstep_use){
        .facts = device_facts(l->device),
        .runs = l->pack->count,
        .bytes = device_bytes(l->device),
        .seconds = device_seconds(l->device) - l->pack->build_seconds,
        .compile_seconds = l->pack->compile_seconds,
    };
    leave(l);
}
