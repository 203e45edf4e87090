/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators between two groups (MPI_Intercomm_create). Each group waits by itself; when
 * both have come, their leaders name each other. Each side then sees the other's ranks,
 * to which its messages go, under one number; what both do together goes by `joint`.
 */
#include "workload/trace/reader/dumpi/dumpi_communicators.h"

static int64_t argument_of(const struct dumpi_communicators *communicators, uint32_t rank, const char *name)
{
    return dumpi_value(&communicators->waits[rank], name);
}

/* The rank of the job that leads a group; ANY: it has no such rank. */
static uint32_t leader_of(const struct dumpi_communicators *communicators, const struct dumpi_communicator *group)
{
    int64_t place = argument_of(communicators, group->ranks[0], "localleader");
    return place >= 0 && place < group->size ? group->ranks[place] : ANY;
}

/* Whom a leader names. */
static uint32_t named_by(struct dumpi_communicators *communicators, uint32_t leader)
{
    const struct dumpi_communicator *bridge =
        dumpi_communicator_of(communicators, leader, &communicators->waits[leader], "remotecomm");
    int64_t place = argument_of(communicators, leader, "remoteleader");
    return bridge && place >= 0 && place < bridge->size ? bridge->ranks[place] : ANY;
}

struct dumpi_communicator *dumpi_other_group(struct dumpi_communicators *communicators,
                                             const struct dumpi_communicator *group, struct dumpi_communicator **old)
{
    uint32_t leader = leader_of(communicators, group), named = leader == ANY ? ANY : named_by(communicators, leader);
    struct dumpi_communicator *other = named == ANY ? NULL : old[named];
    if (!other || other == group || other->waiting < other->size ||
        communicators->waits[named].id != DUMPI_INTERCOMM_CREATE || leader_of(communicators, other) != named ||
        named_by(communicators, named) != leader ||
        argument_of(communicators, leader, "tag") != argument_of(communicators, named, "tag"))
        return NULL;
    return other;
}

static void give_side(struct dumpi_communicators *communicators, struct dumpi_communicator *joint,
                      const struct dumpi_communicator *own, const struct dumpi_communicator *other)
{
    struct dumpi_communicator *side = arena_array(communicators->arena, struct dumpi_communicator, 1);
    *side = (struct dumpi_communicator){.number = joint->number,
                                        .size = other->size,
                                        .ranks = other->ranks,
                                        .joint = joint,
                                        .own = {own->ranks, own->size}};
    for (uint32_t place = 0; place < own->size; place++) {
        uint32_t rank = own->ranks[place];
        *dumpi_handle(communicators, rank, argument_of(communicators, rank, "newcomm")) = side;
        dumpi_made_add(&communicators->made[rank], side);
    }
}

void dumpi_join_groups(struct dumpi_communicators *communicators, struct dumpi_communicator *one,
                       struct dumpi_communicator *other)
{
    const struct dumpi_communicator *first = one->ranks[0] < other->ranks[0] ? one : other;
    const struct dumpi_communicator *second = first == one ? other : one;
    uint32_t *ranks = arena_array(communicators->arena, uint32_t, (size_t)first->size + second->size);
    for (uint32_t i = 0; i < first->size + second->size; i++)
        ranks[i] = i < first->size ? first->ranks[i] : second->ranks[i - first->size];
    struct dumpi_communicator *joint = dumpi_communicator_add(communicators, ranks, first->size + second->size);
    give_side(communicators, joint, first, second);
    give_side(communicators, joint, second, first);
    one->waiting = other->waiting = 0;
}
