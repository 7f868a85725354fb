/* SPDX-License-Identifier: MIT */
/* A policy in layers allows what each of its layers allows, and says which one refused. */
#include "policy_fixture.h"

static const char outer[] = "write /ws;read /usr;deny *.pem;protect /ws/.git/hooks";
static const char inner[] = "write /ws/sub;read /ws;read /usr/lib;deny .env";

static const char *const paths[] = {
    "/",          "/ws",           "/ws/a",          "/ws/a.pem",
    "/ws/.env",   "/ws/.git",      "/ws/.git/hooks", "/ws/sub",
    "/ws/sub/a",  "/ws/sub/a.pem", "/ws/sub/.env/b", "/usr",
    "/usr/lib/x", "/usr/bin/x",    "/etc/passwd",
};

static uint64_t room[4096];

static const struct policy *stack(const struct policy *first, const struct policy *second)
{
    size_t size = policy_stack(first, second, room, sizeof room);

    return size > 0 && policy_check(room, size) == NULL ? (const struct policy *)room : NULL;
}

TEST each_layer_has_to_allow(void)
{
    struct policy *first = policy_of(outer);
    struct policy *second = policy_of(inner);
    const struct policy *both = stack(first, second);

    ASSERT(both != NULL);
    for (size_t i = 0; i < COUNT(paths); i++)
        for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++) {
            struct verdict a = decide(first, paths[i], (enum intent)intent);
            struct verdict b = decide(second, paths[i], (enum intent)intent);
            struct verdict c = decide(both, paths[i], (enum intent)intent);

            ASSERT_EQm(paths[i], a.allowed && b.allowed, c.allowed);
            ASSERT_EQm(paths[i], a.allowed ? b.rule : a.rule, c.rule);
            ASSERT_EQm(paths[i], a.allowed ? 1 : 0, c.layer);
        }
    free(first);
    free(second);
    PASS();
}

TEST nothing_moves_that_one_layer_holds(void)
{
    struct policy *first = policy_of(outer);
    struct policy *second = policy_of(inner);
    const struct policy *both = stack(first, second);

    for (size_t i = 0; i < COUNT(paths); i++)
        for (size_t j = 0; j < COUNT(paths); j++) {
            struct policy_at from[3] = {stand(first, paths[i]), stand(second, paths[i]),
                                        stand(both, paths[i])};
            struct policy_at to[3] = {stand(first, paths[j]), stand(second, paths[j]),
                                      stand(both, paths[j])};

            ASSERT_EQ(decide_move(first, &from[0], &to[0]).allowed &&
                          decide_move(second, &from[1], &to[1]).allowed,
                      decide_move(both, &from[2], &to[2]).allowed);
        }
    free(first);
    free(second);
    PASS();
}

TEST there_are_so_many_and_no_more(void)
{
    static uint64_t higher[4096];
    struct policy *one = policy_of(outer);
    const struct policy *two = stack(one, one);
    size_t size = policy_stack(two, one, higher, sizeof higher);

    ASSERT_EQ(3, POLICY_LAYERS);
    ASSERT_EQ(NULL, policy_check(higher, size));
    ASSERT_EQ(size, policy_whole_size((struct policy *)higher));
    ASSERT_EQ(NULL, policy_next(policy_layer((struct policy *)higher, 2)));
    ASSERT_EQ(0, policy_stack((struct policy *)higher, one, room, sizeof room));
    ASSERT_EQ(0, policy_stack(one, one, higher, policy_whole_size(one)));
    free(one);
    PASS();
}

/* Neither a layer less nor one of them cut short goes through the check. */
TEST a_layer_cannot_be_taken_away(void)
{
    struct policy *one = policy_of(outer);
    size_t size = policy_stack(one, one, room, sizeof room);
    struct policy *both = (struct policy *)room;

    for (size_t n = 0; n < size; n++)
        ASSERT(policy_check(room, n) != NULL);
    both->more = 0;
    ASSERT(policy_check(room, size) != NULL);
    both->checksum = policy_checksum(both);
    ASSERT_STR_EQ("not whole", policy_check(room, size));
    both->more = 2;
    both->checksum = policy_checksum(both);
    ASSERT_STR_EQ("a number of layers that cannot be", policy_check(room, size));
    both->more = POLICY_LAYERS;
    both->checksum = policy_checksum(both);
    ASSERT_STR_EQ("a number of layers that cannot be", policy_check(room, size));
    free(one);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(each_layer_has_to_allow);
    RUN_TEST(nothing_moves_that_one_layer_holds);
    RUN_TEST(there_are_so_many_and_no_more);
    RUN_TEST(a_layer_cannot_be_taken_away);
    GREATEST_MAIN_END();
}
