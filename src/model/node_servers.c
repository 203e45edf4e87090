/* SPDX-License-Identifier: Apache-2.0 */
/* The table of busy servers: node.h says how it works. */
#include "model/node.h"

#define SMALLEST 64        /* buckets */
#define PROBES_MAX 48      /* buckets without a free entry that make a table too full at once */
#define SAMPLE_BUCKETS 512 /* looked at to judge how full a table is */

static struct server_table new_table(struct partition *partition, uint64_t buckets)
{
    return (struct server_table){.buckets = process_memory(partition, buckets * sizeof(struct server_bucket)),
                                 .mask = buckets - 1,
                                 .shift = (uint32_t)__builtin_clzll(buckets - 1)};
}

void servers_init(struct servers *servers, struct partition *partition, double expected)
{
    uint64_t buckets = SMALLEST; /* 1.5 and more for a server: few are passed on, 1.07 times as fast as with 1 to 2 */
    while ((double)buckets < 1.5 * expected && buckets < (uint64_t)1 << 40)
        buckets *= 2;
    servers->tables[0] = new_table(partition, buckets);
    servers->count = 1;
}

/* Drops the old tables that have passed. */
static void forget_passed(struct servers *servers, struct partition *partition)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < servers->count; i++)
        kept += servers->tables[i].last >= servers->horizon;
    if (kept == servers->count)
        return;
    process_save(partition, servers->tables, sizeof servers->tables);
    process_save(partition, &servers->count, sizeof servers->count);
    kept = 1;
    for (uint32_t i = 1; i < servers->count; i++)
        if (servers->tables[i].last >= servers->horizon)
            servers->tables[kept++] = servers->tables[i];
    servers->count = kept;
}

static tick_t last_of(const struct server_table *table)
{
    tick_t last = 0;
    for (uint64_t i = 0; i <= table->mask; i++)
        for (uint32_t j = 0; j < BUCKET_SERVERS; j++)
            last = table->buckets[i].servers[j].until > last ? table->buckets[i].servers[j].until : last;
    return last;
}

static void set_steps(struct servers *servers, struct partition *partition, uint64_t steps)
{
    process_save(partition, &servers->steps, sizeof servers->steps);
    servers->steps = steps;
}

/* Undone with the event that it happens in, like all else; the memory stays. */
static void servers_grow(struct servers *servers, struct partition *partition)
{
    forget_passed(servers, partition);
    FW_CHECK(servers->count < TABLES_MAX, "tick %llu: %u tables of busy servers are in use",
             (unsigned long long)servers->horizon, servers->count);
    process_save(partition, servers->tables, sizeof servers->tables);
    process_save(partition, &servers->count, sizeof servers->count);
    servers->tables[0].last = last_of(&servers->tables[0]);
    for (uint32_t i = servers->count++; i > 0; i--)
        servers->tables[i] = servers->tables[i - 1];
    servers->tables[0] = new_table(partition, 2 * (servers->tables[1].mask + 1));
    set_steps(servers, partition, 0);
}

/* Searches go on where buckets are full: either the whole table is, or few nodes have many busy links. */
static void servers_grow_if_full(struct servers *servers, struct partition *partition, uint64_t from)
{
    const struct server_table *table = &servers->tables[0];
    uint64_t looked_at = table->mask + 1 < SAMPLE_BUCKETS ? table->mask + 1 : SAMPLE_BUCKETS, busy = 0;
    for (uint64_t i = 0; i < looked_at; i++)
        for (uint32_t j = 0; j < BUCKET_SERVERS; j++)
            busy += table->buckets[(from + i) & table->mask].servers[j].until > servers->horizon;
    set_steps(servers, partition, 0);
    if (2 * busy > looked_at * BUCKET_SERVERS)
        servers_grow(servers, partition);
}

static struct server *find_in(const struct server_table *table, uint64_t key, tick_t horizon)
{
    uint64_t index = server_home(table, (key - 1) >> PORT_BITS);
    for (uint32_t probes = 0;; probes++) {
        struct server_bucket *bucket = &table->buckets[index & table->mask];
        for (uint32_t i = 0; i < BUCKET_SERVERS; i++)
            if (bucket->servers[i].key == key)
                return &bucket->servers[i];
        if (bucket->passed_on_until <= horizon || probes > table->mask)
            return NULL;
        index++;
    }
}

/* Until when it is busy according to the tables before the newest. */
static tick_t until_in_old(struct servers *servers, struct partition *partition, uint64_t key)
{
    forget_passed(servers, partition);
    for (uint32_t i = 1; i < servers->count; i++) {
        const struct server *found = find_in(&servers->tables[i], key, servers->horizon);
        if (found)
            return found->until;
    }
    return 0;
}

tick_t servers_until(const struct servers *servers, uint64_t node, uint32_t port)
{
    for (uint32_t i = 0; i < servers->count; i++) {
        const struct server *found = find_in(&servers->tables[i], server_key(node, port), servers->horizon);
        if (found)
            return found->until;
    }
    return 0;
}

/* The buckets on the way to a server that was passed on must lead to it for as long as it is busy. */
static void mark_way(struct partition *partition, const struct server_table *table, uint64_t from, uint64_t to,
                     tick_t until)
{
    for (uint64_t i = from; i != to; i++) {
        tick_t *mark = &table->buckets[i & table->mask].passed_on_until;
        if (*mark < until) {
            process_save(partition, mark, sizeof *mark);
            *mark = until;
        }
    }
}

tick_t servers_take_slowly(struct servers *servers, struct partition *partition, uint64_t node, uint32_t port,
                           tick_t ready, tick_t duration)
{
    const struct server_table *table = &servers->tables[0];
    uint64_t key = server_key(node, port), home = server_home(table, node);
    struct server *place = NULL; /* the server's own entry, or one to overwrite */
    uint64_t at = 0;
    bool is_known = false, goes_on = true;
    for (uint64_t index = home; goes_on; index++) {
        struct server_bucket *bucket = &table->buckets[index & table->mask];
        for (uint32_t i = 0; i < BUCKET_SERVERS; i++) {
            struct server *server = &bucket->servers[i];
            if (server->key == key) {
                place = server, at = index;
                is_known = true;
                break;
            }
            if (!place && server->until <= servers->horizon)
                place = server, at = index;
        }
        goes_on = !is_known && (!place || bucket->passed_on_until > servers->horizon);
        if (goes_on)
            set_steps(servers, partition, servers->steps + 1);
        if (goes_on && index - home >= PROBES_MAX) {
            servers_grow(servers, partition);
            return servers_take_slowly(servers, partition, node, port, ready, duration);
        }
    }
    tick_t until = is_known ? place->until : 0;
    if (servers->count > 1 && !is_known)
        until = until_in_old(servers, partition, key);
    tick_t start = until > ready ? until : ready;
    process_save(partition, place, sizeof *place);
    *place = (struct server){key, start + duration};
    mark_way(partition, table, home, at, place->until);
    if (servers->steps > table->mask / 8 + SMALLEST)
        servers_grow_if_full(servers, partition, home);
    return start;
}
