/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a traffic pattern from what the configuration chose. */
#include "flitwarp/traffic.h"

void traffic_init(struct traffic *traffic, const struct choice *choice, const struct traffic_space *space,
                  struct errors *errors)
{
    *traffic = (struct traffic){
        .ops = CHOICE_OPS(choice, struct traffic_ops),
        .config = choice->config,
        .terminals = space->terminals,
    };
    if (traffic->ops->prepare)
        traffic->ops->prepare(traffic, choice, space, errors);
}
