/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The lockstep engine: a network on an OpenCL device, tick by tick, with the results of the program to the last byte. It is
 * another way to run what has been built: the routers' memory goes to the device as it is, kernels compiled of the program's
 * own text work on it (lockstep_state.h), and it comes back for those who look at it. Between two grid points nothing is
 * asked of the device; there it tells its sums, and the program decides. Its files:
 *
 *   lockstep_scope.c    what it can run, and the sentence for what it cannot
 *   lockstep_input_queued.c, lockstep_packet.c  what it asks of a router architecture
 *   lockstep_routing.c  the tables, sensors and texts of routing
 *   lockstep_build.c    the numbers and tables that a run works with, and memory
 *   lockstep_pack.c     runs that share a device and its kernels: who goes with whom, and when they go on
 *   lockstep_source.c   the text that these are compiled of
 *   lockstep_messages.c messages of several packets, and answers
 *   lockstep_watch.c    what is counted over time and told to logs
 *   lockstep.c          ticks, grid points, and what is read back
 */
#include "base/text.h"
#include "device/lockstep_state.h"
#include "device/opencl.h"
#include "workload/workload.h"

#define LOCKSTEP_BUFFER_(name, type, member, what) BUFFER_##name,
enum lockstep_buffer { LOCKSTEP_BUFFERS(LOCKSTEP_BUFFER_) LOCKSTEP_BUFFER_COUNT };

enum lockstep_kernel {
    KERNEL_ROUTERS,
    KERNEL_TERMINALS,
    KERNEL_WITHDRAW,
    KERNEL_DROP_TIMERS,
    KERNEL_COUNT,
    KERNEL_NEXT,
    KERNEL_FLITS,
    KERNEL_IDLE,
    LOCKSTEP_KERNELS
};

/* Work-items that add up: for a run alone, at most. */
#define COUNTING_ITEMS 4096

struct lockstep;

/* What is asked of a router architecture. Its kernel is the file of its component's device form. */
struct lockstep_router {
    const char *name;    /* of the component */
    const char *defines; /* what its text is told by; NULL: nothing */
    bool works_in_teams; /* several work-items may share a router */
    /* False, with an error: it cannot run with these settings. */
    bool (*check)(const struct network *network, const struct choice *self, struct errors *errors);
    /* Fills in its numbers, and of struct lockstep what is of the routers. */
    void (*set_facts)(struct lockstep *lockstep);
    /* Ticks at most from when something is put into the ring of a link until it leaves, beside the link's latency. */
    tick_t (*longest_stay)(const struct network *network, const struct link *link);
};
extern const struct lockstep_router lockstep_input_queued, lockstep_packet;
/* NULL: the network's does not run on a device. */
const struct lockstep_router *lockstep_router_of(const struct network *network);

/* How the work of a tick is shared out; of what is asked for 0: as suits the device. */
struct lockstep_sharing {
    uint32_t team, group; /* work-items of a router, and of a group of teams */
    uint32_t registers;   /* of a work-item, at most, where the device takes such a limit; 0: as many as it likes */
};

/* Runs whose networks are of one shape: a launch is a tick of all of them. */
struct lockstep_pack {
    struct device *device; /* borrowed */
    struct device_source source;
    struct device_buffer *buffers[LOCKSTEP_BUFFER_COUNT];
    uint64_t each[LOCKSTEP_BUFFER_COUNT]; /* bytes of a run */
    struct device_kernel *kernels[LOCKSTEP_KERNELS];
    bool is_one_kernel; /* routers and terminals are launched as one */
    struct lockstep_sharing sharing;
    uint32_t counting;      /* work-items that add up */
    struct lockstep **runs; /* owned list of borrowed ones; NULL: it is over */
    uint32_t count;
    uint32_t live, waiting; /* runs that are not over; those of them that wait for a tick to be reached */
    tick_t piece_ticks;     /* run before the device is waited for */
    bool has_begun;
    bool is_counted;                       /* the runs' sums are those of now */
    char *sums, *faults;                   /* owned: of all runs; NULL: nobody has asked */
    double compile_seconds, build_seconds; /* of its compiler; that it was waited for before the runs */
};

struct lockstep {
    struct network_runner runner; /* what the network calls */
    struct network *network;      /* borrowed, as these */
    struct workload *workload;
    struct errors *errors;
    struct arena *arena;
    struct device *device;        /* borrowed */
    struct lockstep_batch *batch; /* borrowed, or its own */
    bool is_alone;                /* that is its own */
    struct lockstep_pack *pack;   /* borrowed; NULL: it has none yet */
    uint32_t number;              /* among its runs */
    struct lockstep_sharing asked;
    struct lockstep_facts facts;
    /* Of the routers; the memory is borrowed from the network. */
    unsigned char *blocks;
    uint64_t *routes;      /* NULL: a word says where a packet may go */
    bool has_stages;       /* that may end later than in the next step; else it is compiled without them */
    uint32_t lane_packets; /* that a lane's buffer holds at most */
    struct text settings;  /* owned: what the text says of it */
    struct arena tables;   /* what TABLES has */
    const char *tables_at; /* where it begins */
    uint64_t tables_bytes;
    struct lockstep_application *applications; /* in the arena, as the device has them */
    uint64_t bytes;                            /* of its memory that all this takes */
    bool has_begun, has_failed;
    struct lockstep_turn *turn; /* what its thread waits by */
    bool is_waiting;            /* for tick `end` to be done */
    bool is_stopped;            /* before that, since it was interrupted */
    tick_t end;
    tick_t now; /* the next tick to be run */
    uint64_t *sums;
    uint64_t in_flight;
    uint32_t fault;
    struct packet *packets; /* owned: a copy, while somebody looks; NULL: none */
};

/* False, with errors that name the setting and what would do: the device cannot run this. */
bool lockstep_check(const struct network *network, const struct workload *workload, struct errors *errors);
/* Runs that go on together, each built by a thread of its own: so many will come to lockstep_start(), or leave before. */
struct lockstep_batch;
struct lockstep_batch *lockstep_batch_open(uint32_t runs);
/* A run that will not come there: its settings are wrong, or no device is asked for. */
void lockstep_batch_leave(struct lockstep_batch *batch);
/* All threads have ended. */
void lockstep_batch_close(struct lockstep_batch *batch);

/*
 * Opens a device for a built simulation and plans what it takes of its memory; NULL with errors: it cannot run there. `batch`:
 * it goes on together with others; NULL: alone.
 */
struct lockstep *lockstep_create(struct network *network, struct workload *workload, uint32_t device,
                                 struct lockstep_batch *batch, struct arena *arena, struct errors *errors);
/* Makes it the one that runs the simulation: takes its memory and compiles its kernels; false with errors. */
bool lockstep_start(struct lockstep *lockstep);
void lockstep_release(struct lockstep *lockstep);

/* ---- lockstep_pack.c: a run's part of what its pack has on the device ---- */

bool lockstep_read(struct lockstep *lockstep, enum lockstep_buffer buffer, uint64_t offset, void *into, uint64_t bytes);
bool lockstep_write(struct lockstep *lockstep, enum lockstep_buffer buffer, uint64_t offset, const void *from,
                    uint64_t bytes);
bool lockstep_fill(struct lockstep *lockstep, enum lockstep_buffer buffer, uint64_t offset, uint64_t bytes,
                   uint8_t byte);
bool lockstep_launch(struct lockstep *lockstep, enum lockstep_kernel kernel, size_t items, uint32_t argument);
/* Room for so many bytes of each run, if there is less; what is in it stays. */
bool lockstep_widen(struct lockstep *lockstep, enum lockstep_buffer buffer, uint64_t bytes);
/* Whether the device gives so much in one piece. */
bool lockstep_gives(struct lockstep *lockstep, uint64_t bytes);
/* Opens the batch's device, or takes the one that is open. */
bool lockstep_open(struct lockstep *lockstep, uint32_t device);
/* Waits until a pack has been made with this run in it; false with errors. */
bool lockstep_join(struct lockstep *lockstep);
void lockstep_leave(struct lockstep *lockstep);
/* Runs to the end of a tick, or to where it is interrupted. */
void lockstep_advance(struct lockstep *lockstep, tick_t end);
/* Somebody wants it to end. */
static inline bool lockstep_is_interrupted(const struct lockstep *lockstep)
{
    return lockstep->workload->interrupt && *lockstep->workload->interrupt;
}
/* Brings sums and fault, of all runs where they are not those of now. */
void lockstep_sum(struct lockstep *lockstep);
/* Tells the device the run's time, or its numbers. */
bool lockstep_tell_time(struct lockstep *lockstep);
bool lockstep_tell_facts(struct lockstep *lockstep);
/* What results say of the device: of all that a pack has done there. */
struct lockstep_use {
    const struct device_facts *facts;
    uint32_t runs;
    uint64_t bytes;
    double seconds, compile_seconds;
};
void lockstep_use(struct lockstep *lockstep, struct lockstep_use *use);

/* Of a port's place in a ring of credits. */
static inline uint64_t lockstep_slot_bytes(const struct lockstep *l)
{
    if (l->network->plan.transfer.chunk)
        return sizeof(uint64_t) * l->facts.num_vcs;
    return l->facts.num_vcs <= 8 ? 1 : l->facts.num_vcs <= 16 ? 2 : 8;
}
/* Fills in numbers and tables, and how much memory it takes; false with errors: the device has less. */
bool lockstep_plan(struct lockstep *lockstep);
/* Bytes of a run in a buffer. */
uint64_t lockstep_bytes(const struct lockstep *lockstep, enum lockstep_buffer buffer);
extern const char *const lockstep_buffer_names[];
/* Fills a run's part of the memory of its pack; false with errors. */
bool lockstep_begin(struct lockstep *lockstep);
/* What the text of a run says that no number tells, into lockstep->settings. */
void lockstep_make_settings(struct lockstep *lockstep);
/* The text, into pack->source; false with errors. */
bool lockstep_make_source(struct lockstep_pack *pack, struct errors *errors);
/* Kinds of components whose forms the sources of messages call: which of those that are compiled an application has. */
enum lockstep_forms { FORMS_INJECTION, FORMS_TRAFFIC, FORMS_SIZE, LOCKSTEP_FORMS };
uint32_t lockstep_form(const struct lockstep *lockstep, enum lockstep_forms kind, uint32_t application);
uint32_t lockstep_form_of(const struct lockstep_pack *pack, enum lockstep_forms kind,
                          const struct component *component);
/* The settings of a component, read once more, so that all that they name lies in the arena. */
struct choice lockstep_read_again(struct lockstep *lockstep, const struct choice *choice, const char *kind,
                                  struct arena *arena);
static inline uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
/* Of what lies among the tables; 0: nothing. */
static inline uint64_t lockstep_place(const struct lockstep *lockstep, const void *pointer)
{
    return pointer ? address_of(pointer) - address_of(lockstep->tables_at) : 0;
}

/* False, with errors: routing does not run on a device. */
bool lockstep_check_routing(const struct network *network, struct errors *errors);
/* Is this component of the program, and can a device compile its file? If not, an error. */
bool lockstep_check_form(const struct choice *choice, const char *kind, struct errors *errors);
void lockstep_make_routing(struct lockstep *lockstep, struct arena *arena);
/* What the text is told about routing, and the text of it. */
void lockstep_add_routing_settings(const struct lockstep *lockstep, struct text *text);
bool lockstep_add_routing(const struct lockstep *lockstep, struct device_source *source);
uint64_t lockstep_sensor_bytes(const struct lockstep *lockstep);
uint64_t lockstep_distance_bytes(const struct lockstep *lockstep);
bool lockstep_fill_routing(struct lockstep *lockstep);

/* The sources as the applications have left them: after their begin(). */
void lockstep_begin_sources(struct lockstep *lockstep);
/* The device is lost, or has no room: ends the program, which has written nothing yet. */
void lockstep_need(const struct lockstep *lockstep, bool is_good);

/* An application's number among those that hear of their messages, from 1 on; 0: it is none of them. */
uint32_t lockstep_listener(const struct lockstep *lockstep, uint32_t application);
/* Any that are not one packet and no more. */
bool lockstep_has_messages(const struct lockstep *lockstep);
/* Where the sizes of an application's answers come from. */
const struct choice *lockstep_reply_of(const struct lockstep *lockstep, uint32_t application);

/* Before the first tick: memory for what is asked for over time, and by logs. */
void lockstep_watch(struct lockstep *lockstep);
/* The last tick up to which there is room for all that may happen, at most the one that is given. */
tick_t lockstep_piece(struct lockstep *lockstep, tick_t last);
/* Reads what was kept since. */
void lockstep_end_piece(struct lockstep *lockstep);
void lockstep_gather_series(struct lockstep *lockstep, uint32_t application, struct measurement *m);
void lockstep_bring_lanes(struct lockstep *lockstep);
