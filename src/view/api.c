/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer's requests, see view.h. Each is a function; a table says which. */
#include "view/view.h"

#include "base/need.h"

#include <stdlib.h>
#include <string.h>

enum { DETAILS_MOST = 64 }; /* routers in full in a frame */
#define STEP_SECONDS 0.2    /* of work for one request, so that the page stays alive */

/* One request as it is answered. */
struct api_call {
    struct view_session *session;
    struct viewed_run **place; /* of the session: the run that is asked for, or the one beside it */
    struct viewed_run *run;    /* there; NULL: none, results are shown */
    const struct request *request;
    const struct json *body; /* an object; NULL for GET */
    struct arena arena;      /* of this request */
    struct errors errors;    /* what is wrong with it; then `out` is not sent */
    struct text *out;        /* an object that is open, with "ok" in it */
};

/* ---- the run ---- */

static void write_wait(struct text *out, const struct viewed_run *run, const struct waiter *waiter)
{
    const struct network *network = &run->simulation.network;
    const struct channels *channels = &run->watch.channels;
    const struct wanted *wanted = run->simulation.workload.deadlock.graph.wanted + waiter->first_wanted;
    write_format(out, "{'packet':'%u.%u','router':%u,'lane':%u,'holds':%u,'vc':%u,'for_room':%s,'wants':[",
                 waiter->source, waiter->sequence, waiter->router, waiter->lane,
                 channel_in(channels, network, waiter->router, waiter->lane / network->num_vcs),
                 waiter->lane % network->num_vcs, truth_word(waiter->for_credit));
    for (uint32_t i = 0; i < waiter->wanted_count; i++)
        write_format(out, "[%u,%u]", channel_out(channels, network, waiter->router, wanted[i].lane / network->num_vcs),
                     wanted[i].lane % network->num_vcs);
    write_format(out, "]}");
}

/* A deadlock is told packet by packet; what applications wait for in vain, in their own words. */
void view_write_end(struct text *out, const struct viewed_run *run)
{
    const struct workload *workload = &run->simulation.workload;
    const struct deadlock *deadlock = &workload->deadlock;
    if (workload->outcome == OUTCOME_DEADLOCK) {
        write_format(out, "'deadlock':{'tick':%llu,'stands_still':%s,'packets':[", (unsigned long long)deadlock->tick,
                     truth_word(deadlock->stands_still));
        for (uint32_t i = 0; i < deadlock->length; i++)
            write_wait(out, run, &deadlock->graph.waiters[deadlock->cycle[i]]);
        write_format(out, "]}");
    } else {
        write_format(out, "'deadlock':null");
    }
    write_text_at(out, "report", workload->outcome == OUTCOME_STUCK ? run->report : NULL);
}

void view_write_scene(struct text *out, struct viewed_run *run)
{
    write_text_at(out, "title", run->title);
    write_text_at(out, "about", run->about);
    tries_write(out, run->text);
    write_format(out, "'tick':%llu,'tick_ns':", (unsigned long long)run->watch.now);
    write_f64(out, run->simulation.config.simulator.tick * 1e9);
    write_format(out, "'config':");
    write_json(out, run->simulation.json);
    scene_write(out, &run->watch, &run->layout);
}

static void get_scene(struct api_call *call)
{
    write_text_at(call->out, "kind", call->run ? "run" : "results");
    if (call->run)
        view_write_scene(call->out, call->run);
}

static void get_frame(struct api_call *call)
{
    uint32_t routers[DETAILS_MOST], count;
    uint32_t last = call->run->simulation.network.topology.routers - 1;
    if (!query_numbers(call->request, "routers", last, routers, DETAILS_MOST, &count)) {
        errors_add(&call->errors,
                   "routers: expected at most %u numbers from 0 to %u with commas between them, each once",
                   DETAILS_MOST, last);
        return;
    }
    viewed_run_end(call->run);
    frame_write(call->out, &call->run->watch, routers, count);
    view_write_end(call->out, call->run);
}

/* A whole number in the body; false, with an error where it is something else, when it is not there. */
static bool body_number(struct api_call *call, const char *key, uint64_t most, uint64_t *number)
{
    const struct json *node = json_find(call->body, key);
    if (!node)
        return false;
    if (node->type != JSON_NUMBER || !(node->number >= 0) || node->number > (double)most ||
        node->number != (double)(uint64_t)node->number)
        return errors_add(&call->errors, "%s: expected a whole number from 0 to %llu", key, (unsigned long long)most);
    *number = (uint64_t)node->number;
    return true;
}

/* "12.3" in the body. */
static bool body_packet(struct api_call *call, uint32_t *source, uint32_t *sequence)
{
    const struct json *node = json_find(call->body, "packet");
    if (!node || (node->type == JSON_TEXT && packet_name_read(node->text, source, sequence)))
        return node;
    return errors_add(&call->errors, "packet: expected a packet's name such as \"12.3\"");
}

/* What there is to say of a packet that cannot be shown; false where it is in the network, or will be. */
static bool packet_is_gone(struct api_call *call, uint32_t source, uint32_t sequence)
{
    const struct watch *watch = &call->run->watch;
    tick_t when;
    if (source >= watch->network->topology.terminals)
        errors_add(&call->errors, "packet %u.%u: there is no terminal %u; accepted: 0 to %u", source, sequence, source,
                   watch->network->topology.terminals - 1);
    else if (watch_has_arrived(watch, source, sequence, &when))
        errors_add(&call->errors, "packet %u.%u has arrived, in tick %llu", source, sequence, (unsigned long long)when);
    return call->errors.count > 0;
}

static void post_step(struct api_call *call)
{
    struct watch *watch = &call->run->watch;
    struct watch_stop stop = {.router = FW_NONE, .source = FW_NONE, .seconds = STEP_SECONDS};
    const uint64_t farthest = (uint64_t)1 << 53;
    uint64_t cycles = 0, until = farthest, router = FW_NONE;
    bool says_how_far = body_number(call, "cycles", farthest / watch->cycle, &cycles);
    if (says_how_far)
        until = watch->now + cycles * watch->cycle;
    else
        says_how_far = body_number(call, "until", farthest, &until);
    if (body_number(call, "router", call->run->simulation.network.topology.routers - 1, &router))
        stop.router = (uint32_t)router;
    bool has_stop = body_packet(call, &stop.source, &stop.sequence) || stop.router != FW_NONE;
    if (!says_how_far && !has_stop && !call->errors.count)
        errors_add(&call->errors, "expected one of cycles, until, packet and router");
    if (call->errors.count || (stop.source != FW_NONE && packet_is_gone(call, stop.source, stop.sequence)))
        return;
    bool is_done = watch_run(watch, until, &stop);
    write_format(call->out, "'more':%s", truth_word(!is_done));
    get_frame(call);
}

static void get_series(struct api_call *call)
{
    uint64_t from;
    if (query_number(call->request, "from", 0, UINT32_MAX, &from))
        series_write(call->out, &call->run->watch, from);
    else
        errors_add(&call->errors, "from: expected a number");
}

static void get_router(struct api_call *call)
{
    uint64_t router;
    uint32_t last = call->run->simulation.network.topology.routers - 1;
    if (!query_number(call->request, "id", UINT64_MAX, last, &router) || router > last) {
        errors_add(&call->errors, "id: expected a router from 0 to %u", last);
        return;
    }
    write_format(call->out, "'id':%u,'router':", (uint32_t)router);
    router_write(call->out, &call->run->watch, (uint32_t)router);
}

static void get_packet(struct api_call *call)
{
    char name[32];
    uint32_t source, sequence;
    if (!query_find(call->request, "id", name, sizeof name) || !packet_name_read(name, &source, &sequence))
        errors_add(&call->errors, "id: expected a packet's name such as 12.3");
    else if (!packet_is_gone(call, source, sequence) && !packet_write(call->out, &call->run->watch, source, sequence))
        errors_add(&call->errors, "packet %u.%u is not in the network yet, or has arrived long ago", source, sequence);
}

static void get_run_results(struct api_call *call)
{
    viewed_run_end(call->run);
    if (!call->run->results) {
        errors_add(&call->errors, "the run has not ended yet");
        return;
    }
    write_format(call->out, "'results':");
    write_json(call->out, call->run->results);
}

static void get_results(struct api_call *call)
{
    const struct text *documents = &call->session->documents;
    write_format(call->out, "'documents':[");
    text_add_bytes(call->out, documents->chars, documents->length);
    write_format(call->out, "]");
}

/* ---- other runs ---- */

/* Shows another run in place of this one. */
static void change_run(struct api_call *call, struct view_source source, char **overrides, int count)
{
    view_trial *fits = call->session->fits;
    bool can_be = !fits || fits(&source, overrides, count, &call->errors);
    struct viewed_run *run = can_be ? viewed_run_open(&source, overrides, count, &call->errors) : NULL;
    if (!run)
        return;
    struct view_session *session = call->session;
    viewed_run_close(*call->place);
    *call->place = call->run = run;
    if (run == session->beside) {
        get_scene(call);
        return;
    }
    session->base = source;
    session->overrides = arena_array(&session->sent, char *, count);
    session->override_count = count;
    for (int i = 0; i < count; i++)
        session->overrides[i] = arena_text(&session->sent, overrides[i]);
    get_scene(call);
}

static void post_restart(struct api_call *call)
{
    const struct json *list = json_find(call->body, "overrides");
    uint32_t count = list ? list->count : 0;
    bool is_right = !list || list->type == JSON_ARRAY;
    char **overrides = arena_array(&call->arena, char *, count);
    for (uint32_t i = 0; is_right && i < count; i++) {
        const struct json *item = json_at(list, i);
        is_right = item->type == JSON_TEXT;
        overrides[i] = is_right ? arena_text(&call->arena, item->text) : NULL;
    }
    if (!is_right)
        errors_add(&call->errors, "overrides: expected a list of texts \"PATH=VALUE\"");
    else
        change_run(call, call->session->base, overrides, (int)count);
}

static void post_close(struct api_call *call)
{
    viewed_run_close(*call->place);
    *call->place = NULL;
}

static void get_options(struct api_call *call)
{
    write_format(call->out, "'forms':[");
    forms_write(call->out, simulation_options, call->run->simulation.json, "");
    write_format(call->out, "]");
}

static void get_gallery(struct api_call *call)
{
    write_format(call->out, "'scenarios':[");
    for (const struct embedded_file *file = scenario_files; file->name; file++) {
        struct leading_comment comment = leading_comment_read(file->bytes, &call->arena);
        write_open(call->out, '{');
        write_text_at(call->out, "name", file->name);
        write_text_at(call->out, "title", comment.first);
        write_text_at(call->out, "about", comment.rest);
        tries_write(call->out, file->bytes);
        write_close(call->out, '}');
    }
    write_close(call->out, ']');
}

static void post_open(struct api_call *call)
{
    const struct json *name = json_find(call->body, "scenario"), *text = json_find(call->body, "configuration");
    const struct embedded_file *file =
        name && name->type == JSON_TEXT ? embedded_find(scenario_files, name->text) : NULL;
    if (text && text->type == JSON_TEXT) {
        struct embedded_file *sent = arena_array(&call->session->sent, struct embedded_file, 1);
        *sent =
            (struct embedded_file){"configuration", arena_text(&call->session->sent, text->text), strlen(text->text)};
        file = sent;
    }
    if (file)
        change_run(call, (struct view_source){.scenario = file}, NULL, 0);
    else
        errors_add(&call->errors,
                   "expected a scenario, one of those that api/gallery lists, or a configuration as a text");
}

static bool are_notes(const struct json *notes)
{
    for (uint32_t i = 0; notes && notes->type == JSON_ARRAY && i < notes->count; i++) {
        const struct json *tick = json_find(json_at(notes, i), "tick"), *text = json_find(json_at(notes, i), "text");
        if (!tick || tick->type != JSON_NUMBER || !text || text->type != JSON_TEXT)
            return false;
    }
    return !notes || notes->type == JSON_ARRAY;
}

/* A page that plays this run, with the settings in force. */
static void post_record(struct api_call *call)
{
    const struct view_session *session = call->session;
    struct recording recording = {.cycles = 1000, .notes = json_find(call->body, "notes")};
    body_number(call, "from", (uint64_t)1 << 53, &recording.from);
    body_number(call, "cycles", RECORDED_MOST, &recording.cycles);
    if (!are_notes(recording.notes))
        errors_add(&call->errors, "notes: expected a list of {\"tick\": NUMBER, \"text\": TEXT}");
    if (call->errors.count || !recording_check(&call->errors))
        return;
    recording.run = viewed_run_open(&session->base, session->overrides, session->override_count, &call->errors);
    if (!recording.run)
        return;
    char *page = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&page, &length);
    NEED(stream, "out of memory for a page");
    recording_print(&recording, stream);
    fclose(stream);
    write_text_at(call->out, "page", page);
    free(page);
    recording_release(&recording);
}

static void post_quit(struct api_call *call) { call->session->wants_quit = true; }

/* ---- which is which ---- */

static const struct {
    const char *path;
    bool is_post, needs_run;
    void (*answer)(struct api_call *call);
} calls[] = {
    {"api/scene", false, false, get_scene},
    {"api/frame", false, true, get_frame},
    {"api/step", true, true, post_step},
    {"api/series", false, true, get_series},
    {"api/router", false, true, get_router},
    {"api/packet", false, true, get_packet},
    {"api/run-results", false, true, get_run_results},
    {"api/results", false, false, get_results},
    {"api/options", false, true, get_options},
    {"api/restart", true, true, post_restart},
    {"api/close", true, true, post_close},
    {"api/gallery", false, false, get_gallery},
    {"api/open", true, false, post_open},
    {"api/record", true, true, post_record},
    {"api/quit", true, false, post_quit},
};

static void answer_errors(struct answer *answer, int status, const struct errors *errors)
{
    struct text *out = &answer->body;
    out->length = 0;
    answer->status = status;
    write_format(out, "{'ok':false,'errors':[");
    for (const struct error_message *message = errors->first; message; message = message->next)
        write_text(out, message->text);
    write_format(out, "]}");
}

static void answer_call(struct api_call *call, void (*answer_it)(struct api_call *call))
{
    const struct request *request = call->request;
    if (request->is_post) {
        call->body = json_parse(&call->arena, &call->errors, "request", request->body, request->body_size);
        if (call->body && call->body->type != JSON_OBJECT)
            errors_add(&call->errors, "request: expected an object");
    }
    write_format(call->out, "{'ok':true");
    if (!call->errors.count)
        answer_it(call);
    write_close(call->out, '}');
}

/* An HTTP status, which counts where there are errors. */
static int answer_file(const struct request *request, struct answer *answer, struct errors *errors)
{
    const struct embedded_file *file = embedded_find(page_files, *request->path ? request->path : "index.html");
    if (!file || request->is_post) {
        errors_add(errors, "there is no such page");
        return file ? 405 : 404;
    }
    answer->type = name_ends_with(file->name, ".js")    ? "text/javascript; charset=utf-8"
                   : name_ends_with(file->name, ".css") ? "text/css; charset=utf-8"
                                                        : "text/html; charset=utf-8";
    text_add_bytes(&answer->body, file->bytes, file->size);
    return 200;
}

void view_answer(void *context, const struct request *request, struct answer *answer)
{
    struct view_session *session = context;
    char which[8];
    bool is_beside = query_find(request, "run", which, sizeof which) && strcmp(which, "beside") == 0;
    struct viewed_run **place = is_beside ? &session->beside : &session->run;
    struct api_call call = {
        .session = session, .place = place, .run = *place, .request = request, .out = &answer->body};
    call.errors.arena = &call.arena;
    size_t count = sizeof calls / sizeof *calls, found = 0;
    int status = 400;
    while (found < count && strcmp(request->path, calls[found].path) != 0)
        found++;
    if (found == count) {
        status = answer_file(request, answer, &call.errors);
    } else if (request->is_post != calls[found].is_post) {
        status = 405;
        errors_add(&call.errors, "expected %s", calls[found].is_post ? "POST" : "GET");
    } else if (calls[found].needs_run && !call.run && !(session->run && calls[found].answer == post_restart)) {
        status = 409;
        errors_add(&call.errors, is_beside ? "there is no run beside" : "results are shown, and no run");
    } else {
        answer_call(&call, calls[found].answer);
    }
    if (call.errors.count)
        answer_errors(answer, status, &call.errors);
    arena_release(&call.arena);
}
