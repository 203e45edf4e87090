/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server, see view.h: civetweb reads requests and writes answers; it is told to serve no files. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#ifdef FLITWARP_HAVE_CIVETWEB

#include <civetweb.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LAST_ANSWERS = 1000 }; /* milliseconds to send them in, at the end */

/* A request that waits for its answer, on the stack of the thread that took it. */
struct job {
    const struct request *request;
    struct answer *answer;
    struct job *next;
    bool is_done;
};

struct server {
    struct mg_context *web; /* owned */
    struct gate gate;
    const struct served *served;  /* borrowed */
    pthread_mutex_t lock;         /* of the next six */
    pthread_cond_t asks, answers; /* somebody has a job; some job is done, or sent */
    uint32_t unsent;              /* requests that were taken and whose answers are not sent */
    struct job *first, *last;     /* that wait, in the order in which they came */
    bool is_closing;
    atomic_bool has_stopped;
    char address[96];
};

static const char common_headers[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n";

static void send_answer(struct mg_connection *connection, const struct answer *answer, bool closes)
{
    mg_printf(connection, "HTTP/1.1 %d %s\r\n%sContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n", answer->status,
              mg_get_response_code_text(connection, answer->status), common_headers, answer->type, answer->body.length,
              closes ? "Connection: close\r\n" : "");
    if (answer->body.length)
        mg_write(connection, answer->body.chars, answer->body.length);
}

/* The body, which is as long as it says; false when it does not come. */
static bool read_body(struct mg_connection *connection, char *body, size_t size)
{
    for (size_t got = 0; got < size;) {
        int count = mg_read(connection, body + got, size - got);
        if (count <= 0)
            return false;
        got += (size_t)count;
    }
    body[size] = 0;
    return true;
}

static int server_refuse(struct mg_connection *connection, int status)
{
    struct answer answer = {.status = status, .type = "application/json"};
    text_addf(&answer.body, "{\"ok\":false,\"errors\":[\"refused: %d %s\"]}", status,
              mg_get_response_code_text(connection, status));
    mg_disable_keep_alive(connection); /* what may come behind it is not looked at */
    send_answer(connection, &answer, true);
    text_release(&answer.body);
    return status;
}

/* Hands a request to the thread that works; false when there is none any more. */
static bool wait_for_answer(struct server *server, const struct request *request, struct answer *answer)
{
    struct job job = {.request = request, .answer = answer};
    pthread_mutex_lock(&server->lock);
    server->unsent++;
    if (!server->is_closing) {
        *(server->first ? &server->last->next : &server->first) = &job;
        server->last = &job;
        pthread_cond_signal(&server->asks);
    }
    while (!job.is_done && !server->is_closing)
        pthread_cond_wait(&server->answers, &server->lock);
    pthread_mutex_unlock(&server->lock);
    return job.is_done; /* one that is not done is in the list still, but nobody looks at that any more */
}

static struct timespec time_in(uint32_t milliseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += (long)milliseconds * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Answers the next request, or waits some milliseconds for one in vain. */
static void server_work(struct server *server, uint32_t milliseconds)
{
    const struct timespec until = time_in(milliseconds);
    pthread_mutex_lock(&server->lock);
    while (!server->first && pthread_cond_timedwait(&server->asks, &server->lock, &until) == 0)
        continue;
    struct job *job = server->first;
    if (job)
        server->first = job->next;
    pthread_mutex_unlock(&server->lock);
    if (!job)
        return;
    server->served->answer(server->served->context, job->request, job->answer);
    pthread_mutex_lock(&server->lock);
    job->is_done = true;
    pthread_cond_broadcast(&server->answers);
    pthread_mutex_unlock(&server->lock);
}

/* Every request comes here, and none goes on to what civetweb would make of it. */
static int take_request(struct mg_connection *connection)
{
    const struct mg_request_info *info = mg_get_request_info(connection);
    struct server *server = info->user_data;
    const struct request_facts facts = {
        .method = info->request_method,
        .uri = info->local_uri_raw,
        .host = mg_get_header(connection, "Host"),
        .origin = mg_get_header(connection, "Origin"),
        .content_type = mg_get_header(connection, "Content-Type"),
        .transfer_encoding = mg_get_header(connection, "Transfer-Encoding"),
        .content_length = info->content_length,
    };
    struct request request = {.query = info->query_string ? info->query_string : "",
                              .is_post = strcmp(info->request_method, "POST") == 0};
    int status = gate_judge(&server->gate, &facts, &request.path);
    if (status)
        return server_refuse(connection, status);
    request.body_size = facts.content_length > 0 ? (size_t)facts.content_length : 0;
    char *body = memory_take(request.body_size + 1);
    request.body = body;
    struct answer answer = {.status = 200, .type = "application/json"};
    if (!read_body(connection, body, request.body_size)) {
        status = server_refuse(connection, 400);
    } else {
        if (wait_for_answer(server, &request, &answer))
            send_answer(connection, &answer, false);
        else
            server_refuse(connection, 503);
        status = answer.status;
        pthread_mutex_lock(&server->lock);
        server->unsent--;
        pthread_cond_broadcast(&server->answers);
        pthread_mutex_unlock(&server->lock);
    }
    text_release(&answer.body);
    free(body);
    return status;
}

/* Its messages go nowhere but into the error of a start that failed. */
static int keep_message(const struct mg_connection *connection, const char *message)
{
    (void)connection;
    (void)message;
    return 1;
}

static void server_release(struct server *server)
{
    pthread_cond_destroy(&server->asks);
    pthread_cond_destroy(&server->answers);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static struct server *server_start(uint32_t port, const struct served *served, struct errors *errors)
{
    struct server *server = memory_take(sizeof *server);
    server->served = served;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->asks, &clock);
    pthread_cond_init(&server->answers, &clock);
    pthread_condattr_destroy(&clock);
    mallopt(M_ARENA_MAX, 2); /* its threads take little, and a region each would be gigabytes of addresses */
    char listens[32];
    snprintf(listens, sizeof listens, "127.0.0.1:%u", port);
    /* clang-format off */
    const char *const options[] = {
        "listening_ports", listens,
        "num_threads", "100", /* many may say nothing */
        "request_timeout_ms", "1500",
        "enable_keep_alive", "yes",
        "keep_alive_timeout_ms", "1000",
        "max_request_size", "16384", /* without the body */
        "tcp_nodelay", "1",
        "decode_url", "no", /* the gate sees what was sent */
        NULL,
    };
    /* clang-format on */
    const struct mg_callbacks callbacks = {.begin_request = take_request, .log_message = keep_message};
    struct mg_server_port bound = {0};
    struct mg_init_data init = {.callbacks = &callbacks, .user_data = server, .configuration_options = (void *)options};
    char reason[256] = "";
    struct mg_error_data error = {.text = reason, .text_buffer_size = sizeof reason};
    bool has_token = gate_make_token(&server->gate);
    server->web = has_token ? mg_start2(&init, &error) : NULL;
    if (!server->web || mg_get_server_ports(server->web, 1, &bound) < 1) {
        errors_add(errors, "cannot listen on %s: %s", listens,
                   has_token ? reason : "the system gives no random numbers");
        server_release(server);
        return NULL;
    }
    /* Requests that come before this find port 0 and are refused. */
    server->gate.port = (uint32_t)bound.port;
    snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u/%s/", server->gate.port, server->gate.token);
    return server;
}

/* civetweb looks every two seconds whether it is to stop, and after every connection: so somebody knocks. */
static void *knock(void *context)
{
    struct server *server = context;
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->gate.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (uint32_t i = 0; i < 50 && !atomic_load(&server->has_stopped); i++) {
        nanosleep(&pause, NULL);
        int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (door < 0)
            break;
        connect(door, (const struct sockaddr *)&address, sizeof address);
        close(door);
    }
    return NULL;
}

static void server_stop(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    const struct timespec until = time_in(LAST_ANSWERS);
    server->is_closing = true;
    pthread_cond_broadcast(&server->answers);
    while (server->unsent && pthread_cond_timedwait(&server->answers, &server->lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&server->lock);
    pthread_t knocker;
    bool knocks = pthread_create(&knocker, NULL, knock, server) == 0;
    mg_stop(server->web);
    atomic_store(&server->has_stopped, true);
    if (knocks)
        pthread_join(knocker, NULL);
    server_release(server);
}

bool server_run(uint32_t port, const struct served *served, struct errors *errors)
{
    struct server *server = server_start(port, served, errors);
    if (!server)
        return false;
    served->begins(served->context, server->address);
    while (served->goes_on(served->context))
        server_work(server, 50);
    server_stop(server);
    return true;
}

#else

bool server_run(uint32_t port, const struct served *served, struct errors *errors)
{
    (void)port;
    (void)served;
    return errors_add(errors,
                      "this flitwarp was built without a web server; install libcivetweb-dev and build it again");
}

#endif

/* ---- judging requests, and reading their queries ---- */

enum { BAD_REQUEST = 400, FORBIDDEN = 403, BAD_METHOD = 405, LENGTH_REQUIRED = 411, TOO_LARGE = 413 };
enum { WRONG_TYPE = 415, MISDIRECTED = 421 };

bool gate_make_token(struct gate *gate)
{
    unsigned char bits[TOKEN_DIGITS / 2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return false;
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(gate->token + 2 * i, 3, "%02x", (unsigned)bits[i]);
    return true;
}

/* Compares in a time that does not tell how much of a token is right. */
static bool has_token(const struct gate *gate, const char *uri)
{
    unsigned char difference = 0;
    if (strlen(uri) < TOKEN_DIGITS + 2)
        return false;
    for (size_t i = 0; i < TOKEN_DIGITS; i++)
        difference |= (unsigned char)(uri[i + 1] ^ gate->token[i]);
    return difference == 0 && uri[0] == '/' && uri[TOKEN_DIGITS + 1] == '/';
}

/* "127.0.0.1:PORT" or "localhost:PORT". */
static bool gate_is_host(const struct gate *gate, const char *host)
{
    char names[2][32];
    snprintf(names[0], sizeof names[0], "127.0.0.1:%u", gate->port);
    snprintf(names[1], sizeof names[1], "localhost:%u", gate->port);
    return host && (strcmp(host, names[0]) == 0 || strcasecmp(host, names[1]) == 0);
}

/* Letters, digits and single dots, slashes, dashes: no way up, nothing encoded, nothing hidden. */
static bool path_is_plain(const char *path)
{
    for (; *path; path++) {
        bool is_mark = *path == '/' || *path == '.';
        bool is_letter = (*path >= 'a' && *path <= 'z') || (*path >= '0' && *path <= '9') || *path == '-';
        if (!is_mark && !is_letter)
            return false;
        if (is_mark && (path[1] == '/' || path[1] == '.'))
            return false;
    }
    return true;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return type && strncasecmp(type, json, sizeof json - 1) == 0 &&
           (type[sizeof json - 1] == 0 || type[sizeof json - 1] == ';');
}

int gate_judge(const struct gate *gate, const struct request_facts *facts, const char **path)
{
    bool is_post = strcmp(facts->method, "POST") == 0;
    if (!gate_is_host(gate, facts->host))
        return MISDIRECTED;
    if (!facts->uri || !has_token(gate, facts->uri))
        return FORBIDDEN;
    *path = facts->uri + TOKEN_DIGITS + 2;
    if (!path_is_plain(*path))
        return BAD_REQUEST;
    if (!is_post && strcmp(facts->method, "GET") != 0)
        return BAD_METHOD;
    if (facts->origin && (strncmp(facts->origin, "http://", 7) != 0 || !gate_is_host(gate, facts->origin + 7)))
        return FORBIDDEN;
    if (facts->content_length > (long long)BODY_MOST)
        return TOO_LARGE;
    if (facts->transfer_encoding || (is_post && facts->content_length < 0))
        return LENGTH_REQUIRED;
    if (!is_post)
        return facts->content_length > 0 ? BAD_REQUEST : 0;
    return is_json(facts->content_type) ? 0 : WRONG_TYPE;
}

/* ---- queries ---- */

/* Up to the next "&". */
static bool query_decode(const char *text, char *value, size_t size)
{
    size_t length = 0;
    while (*text && *text != '&') {
        char c = *text++;
        if (c == '%') {
            const char digits[] = {text[0], text[0] ? text[1] : '\0', '\0'};
            c = (char)strtoul(digits, NULL, 16);
            if (!c || strspn(digits, "0123456789abcdefABCDEF") != 2)
                return false;
            text += 2;
        }
        if (length + 1 >= size)
            return false;
        value[length++] = c;
    }
    value[length] = 0;
    return true;
}

/* The value of a key as it stands there; NULL: it does not. */
static const char *query_text(const struct request *request, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = request->query; at; at = strchr(at, '&')) {
        at += *at == '&';
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

bool query_find(const struct request *request, const char *key, char *value, size_t size)
{
    const char *text = query_text(request, key);
    return text && query_decode(text, value, size);
}

bool query_number(const struct request *request, const char *key, uint64_t fallback, uint64_t most, uint64_t *number)
{
    char value[32];
    const char *coded = query_text(request, key), *text = value;
    *number = fallback;
    return !coded || (query_decode(coded, value, sizeof value) && number_read(&text, most, number) && !*text);
}

bool query_numbers(const struct request *request, const char *key, uint64_t most, uint32_t *numbers, uint32_t room,
                   uint32_t *count)
{
    char value[1024] = "";
    const char *coded = query_text(request, key), *text = value;
    uint64_t number;
    *count = 0;
    if (coded && !query_decode(coded, value, sizeof value))
        return false;
    while (*text) {
        if (*count == room || !number_read(&text, most, &number) || (*text && *text != ','))
            return false;
        for (uint32_t i = 0; i < *count; i++)
            if (numbers[i] == number)
                return false;
        numbers[(*count)++] = (uint32_t)number;
        text += *text == ',';
    }
    return true;
}

bool packet_name_read(const char *name, uint32_t *source, uint32_t *sequence)
{
    uint64_t first, second;
    if (!number_read(&name, UINT32_MAX - 1, &first) || *name++ != '.' || !number_read(&name, UINT32_MAX - 1, &second) ||
        *name)
        return false;
    *source = (uint32_t)first;
    *sequence = (uint32_t)second;
    return true;
}
