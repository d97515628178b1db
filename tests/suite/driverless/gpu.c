/* A fake driver with one GPU, or FAKE_GPUS, that computes nothing: its memory is host memory, a module is its text, and launches do nothing.
 * It appends a line for each logged call to the file FAKE_LOG. The file FAKE_FAULTS says which call fails. */
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, TIMEOUT = 909 };

static int setting(const char *name) { const char *value = getenv(name); return value ? atoi(value) : 0; }

static void record(const char *call) {
    const char *path = getenv("FAKE_LOG");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    char line[64];
    int length = snprintf(line, sizeof line, "%s\n", call);
    /* One write per line, so that lines of several threads are not interleaved. */
    if (file >= 0) { if (write(file, line, length) != length) abort(); close(file); }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Memory, pools, streams, events and modules that exist, and retained contexts, pools, pinned memory, streams, events and modules that
 * nobody has tried to release. */
static int live, held;

/* What was done since the faults changed: the sum of a number for each launch, which depends on its kernel and shape, and the bytes of copies
 * to the device, from it and on it, and of fills. So the order, which threads may change, does not count. */
static unsigned long long launched, moved[4];
enum { UP, DOWN, ACROSS, FILLED };

static void move(int how, size_t bytes) { pthread_mutex_lock(&lock); moved[how] += bytes; pthread_mutex_unlock(&lock); }

static unsigned long long mixed(unsigned long long hash, unsigned long long number) { return (hash ^ number) * 1099511628211; }

static char primaries[8];
static __thread void *current;

/* Returns the code with which this call fails, or SUCCESS. The file FAKE_FAULTS has the number of a call, a code, whether all
 * calls after it fail, too, and the GPU whose calls count, or -1 for all. When it changes, calls are counted from 1 on, and the number of
 * allocations and of what nobody has tried to release is recorded, and what was done. The call that fails is recorded with its name, and so are the next
 * five of its thread. */
static int fault(const char *name, const void *context) {
    static char last[64];
    static int calls, change;
    static __thread int follows, change_seen;
    const char *path = getenv("FAKE_FAULTS");
    if (!path) return SUCCESS;
    char text[64] = "", line[128];
    int number = 0, code = 0, lasts = 0, gpu = -1;
    pthread_mutex_lock(&lock);
    int file = open(path, O_RDONLY);
    if (file >= 0) { if (read(file, text, sizeof text - 1) < 0) abort(); close(file); }
    if (strcmp(text, last)) {
        strcpy(last, text);
        calls = 0;
        change++;
        snprintf(line, sizeof line, "live %d\nheld %d", live, held);
        record(line);
        snprintf(line, sizeof line, "trace %llx %llu %llu %llu %llu", launched, moved[UP], moved[DOWN], moved[ACROSS], moved[FILLED]);
        record(line);
        launched = 0;
        memset(moved, 0, sizeof moved);
    }
    int is_set = sscanf(text, "%d %d %d %d", &number, &code, &lasts, &gpu) == 4;
    if (is_set && gpu >= 0 && context != &primaries[gpu]) { pthread_mutex_unlock(&lock); return SUCCESS; }
    int call = ++calls;
    int fails = is_set && (call == number || (lasts && call > number));
    pthread_mutex_unlock(&lock);
    if (change_seen != change) { follows = 0; change_seen = change; }
    if (is_set && follows > 0) { follows--; snprintf(line, sizeof line, "then %s", name); record(line); }
    if (is_set && call == number) { follows = 5; snprintf(line, sizeof line, "fault %s", name); record(line); }
    return fails ? code : SUCCESS;
}

/* At the beginning of a function that can fail. */
#define CALL_OF(context) do { int code = fault(__func__, context); if (code) return code; } while (0)
#define CALL CALL_OF(current)

static void add(int *count, int change) { pthread_mutex_lock(&lock); *count += change; pthread_mutex_unlock(&lock); }
static void alive(int change) { add(&live, change); }
static void hold(int change) { add(&held, change); }

/* At the beginning of a function that releases something. Its failure is no leak of the caller's. */
#define RELEASE hold(-1); CALL

int cuInit(unsigned flags) { return SUCCESS; }
int cuDriverGetVersion(int *version) { *version = 13000; return SUCCESS; }
int cuDeviceGetCount(int *count) { CALL;
    *count = getenv("FAKE_GPUS") ? setting("FAKE_GPUS") : 1;
    return SUCCESS;
}
int cuDeviceGet(int *device, int ordinal) { CALL; *device = ordinal; return SUCCESS; }
int cuDeviceGetName(char *name, int length, int device) { CALL; snprintf(name, length, "fake GPU"); return SUCCESS; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { CALL; *bytes = (size_t)1 << 32; return SUCCESS; }

/* The attributes of an H200. */
int cuDeviceGetAttribute(int *value, int attribute, int device) { CALL;
    switch (attribute) {
        case 1: case 2: case 3: *value = 1024; break;    /* threads of a block, along x, along y */
        case 4: *value = 64; break;                      /* along z */
        case 5: *value = 2147483647; break;              /* blocks along x */
        case 6: case 7: *value = 65535; break;           /* along y and z */
        case 8: *value = 49152; break;                   /* shared memory of a block */
        case 16: *value = 132; break;                    /* multiprocessors */
        case 38: *value = 62914560; break;               /* L2 cache */
        case 39: *value = 2048; break;                   /* threads of a multiprocessor */
        case 75: *value = 9; break;                      /* compute capability */
        case 76: *value = 0; break;
        case 81: *value = 233472; break;                 /* shared memory of a multiprocessor */
        case 97: *value = 232448; break;                 /* of a block, on request */
        case 115: *value = 1; break;                     /* memory pools */
        default: return INVALID;
    }
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) { CALL; record("retain"); *context = &primaries[device]; hold(1); return SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int device) { RELEASE; record("release"); return SUCCESS; }
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { CALL; return SUCCESS; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) { CALL; *context = current = malloc(1); return SUCCESS; }
int cuCtxDestroy_v2(void *context) { CALL; free(context); return SUCCESS; }
int cuCtxSetCurrent(void *context) { CALL_OF(context); current = context; return SUCCESS; }
int cuCtxGetCurrent(void **context) { CALL; *context = current; return SUCCESS; }
static int device_of(const char *context) { return context >= primaries && context < primaries + 8 ? context - primaries : 0; }
int cuCtxGetDevice(int *device) { CALL; *device = device_of(current); return SUCCESS; }
int cuCtxSynchronize(void) { CALL; record("wait for context"); return SUCCESS; }

/* All GPUs have access to each other's memory. */
int cuDeviceCanAccessPeer(int *can, int device, int peer) { CALL; *can = 1; return SUCCESS; }
int cuCtxEnablePeerAccess(void *peer, unsigned flags) { CALL; return SUCCESS; }

/* CUmemPoolProps, as in cuda.h. */
struct properties { int allocation_type, handle_types, location_type, device; char reserved[72]; };
/* A pool of pinned memory of a device. It keeps nothing. */
enum { POOL = 1234567 };
int cuMemPoolCreate(int **pool, const struct properties *properties) { CALL;
    static const char zeros[sizeof properties->reserved];
    if (properties->allocation_type != 1 || properties->location_type != 1 || properties->handle_types) return INVALID;
    if (properties->device < 0 || properties->device >= 8 || memcmp(properties->reserved, zeros, sizeof zeros)) return INVALID;
    record("pool");
    *pool = malloc(sizeof **pool);
    **pool = POOL;
    alive(1);
    hold(1);
    return SUCCESS;
}
int cuMemPoolDestroy(int *pool) { RELEASE; record("end of pool"); *pool = 0; free(pool); alive(-1); return SUCCESS; }
int cuMemPoolTrimTo(void *pool, size_t kept) { CALL; record("trim"); return SUCCESS; }
int cuMemPoolGetAttribute(void *pool, int attribute, unsigned long long *value) { CALL; *value = 0; return SUCCESS; }
int cuMemPoolSetAccess(void *pool, const void *access, size_t count) { CALL; return SUCCESS; }
int cuMemPoolSetAttribute(void *pool, int attribute, void *value) { CALL; return SUCCESS; }

/* Only `cust` creates streams with a priority. */
struct stream { void *context; int of_cust, number; };
static int streams;

/* Records what happens to a stream, if FAKE_EVENTS is set. */
static void record_of(struct stream *stream, const char *what) {
    char line[64];
    if (!setting("FAKE_EVENTS")) return;
    if (stream == (void *)1) snprintf(line, sizeof line, "legacy stream: %s", what);
    else if (stream == (void *)2) snprintf(line, sizeof line, "stream of the thread: %s", what);
    else snprintf(line, sizeof line, "stream %d: %s", stream->number, what);
    record(line);
}

/* Streams of the driver have the current context. */
static const void *context_of(const struct stream *stream) {
    return stream == (void *)1 || stream == (void *)2 ? current : stream->context;
}

static int create(struct stream **stream, int of_cust) {
    record("stream");
    *stream = malloc(sizeof **stream);
    (*stream)->context = current;
    (*stream)->of_cust = of_cust;
    (*stream)->number = ++streams;
    alive(1);
    hold(1);
    return SUCCESS;
}
int cuStreamCreate(struct stream **stream, unsigned flags) { CALL; return create(stream, 0); }
int cuStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority) { CALL; return create(stream, 1); }
int cuStreamGetCtx(struct stream *stream, void **context) { CALL; *context = stream->context; return SUCCESS; }
int cuStreamDestroy_v2(struct stream *stream) { RELEASE; record("end of stream"); free(stream); alive(-1); return SUCCESS; }
int cuStreamSynchronize(struct stream *stream) { CALL;
    if (setting("FAKE_WAITS")) record("wait for stream");
    record_of(stream, "synchronised");
    return SUCCESS;
}
int cuStreamWaitEvent(struct stream *stream, void *event, unsigned flags) { CALL_OF(context_of(stream));
    record_of(stream, "waits");
    return SUCCESS;
}
int cuEventCreate(void **event, unsigned flags) { CALL; *event = malloc(1); alive(1); hold(1); return SUCCESS; }
int cuEventRecord(void *event, struct stream *stream) { CALL; record_of(stream, "event"); return SUCCESS; }
int cuEventSynchronize(void *event) { CALL; return SUCCESS; }
int cuEventElapsedTime(float *milliseconds, void *start, void *end) { CALL; *milliseconds = 1; return SUCCESS; }
int cuEventDestroy_v2(void *event) { RELEASE; free(event); alive(-1); return SUCCESS; }

int cuMemGetInfo_v2(size_t *free, size_t *total) { CALL; *free = *total = (size_t)1 << 32; return SUCCESS; }

/* What is in front of each allocation. */
struct header { void *context; size_t bytes; };
enum { HEADER = 256 };
static struct header *header_of(char *address) { return (struct header *)(address - HEADER); }

/* Device memory that is allocated. Each change is recorded if FAKE_BYTES is set. */
static size_t bytes_in_use;
static void count_bytes(size_t taken, size_t given_back) {
    char line[64];
    pthread_mutex_lock(&lock);
    bytes_in_use += taken - given_back;
    snprintf(line, sizeof line, "bytes %zu", bytes_in_use);
    if (setting("FAKE_BYTES")) record(line);
    pthread_mutex_unlock(&lock);
}

static int allocate(char **address, size_t bytes, void *context) {
    size_t size = HEADER + (bytes + 255) / 256 * 256;
    char *memory = aligned_alloc(256, size);
    if (!memory) return OUT_OF_MEMORY;
    /* Otherwise what is launched could depend on what was there before. */
    memset(memory, 0, size);
    *address = memory + HEADER;
    *header_of(*address) = (struct header){context, bytes};
    alive(1);
    count_bytes(bytes, 0);
    return SUCCESS;
}
static void release(char *address) {
    count_bytes(0, header_of(address)->bytes);
    free(header_of(address));
    alive(-1);
}
int cuMemAllocFromPoolAsync(char **address, size_t bytes, const int *pool, void *stream) { CALL;
    return *pool == POOL ? allocate(address, bytes, NULL) : INVALID;
}
int cuMemFreeAsync(char *address, struct stream *stream) { CALL; record_of(stream, "free"); release(address); return SUCCESS; }
int cuMemAlloc_v2(char **address, size_t bytes) { CALL;
    record("allocate");
    return setting("FAKE_FULL") ? OUT_OF_MEMORY : allocate(address, bytes, current);
}
int cuMemFree_v2(char *address) { CALL; record("free"); release(address); return SUCCESS; }
int cuMemAllocHost_v2(void **address, size_t bytes) { CALL; *address = malloc(bytes + 1); alive(1); hold(1); return SUCCESS; }
int cuMemFreeHost(void *address) { RELEASE; free(address); alive(-1); return SUCCESS; }
int cuPointerGetAttribute(void *value, int attribute, char *address) { CALL;
    enum { CONTEXT = 1, DEVICE_ORDINAL = 9 };
    void *context = header_of(address)->context;
    if (attribute == DEVICE_ORDINAL) { *(int *)value = 0; return SUCCESS; }
    if (attribute != CONTEXT || !context) return INVALID;
    *(void **)value = context;
    return SUCCESS;
}
/* No memory is known as pinned. */
int cuPointerGetAttributes(unsigned count, int *attributes, void **values, char *address) { CALL;
    *(unsigned *)*values = 0;
    return SUCCESS;
}
int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) { CALL; memcpy(to, from, bytes); return SUCCESS; }
int cuMemcpyDtoH_v2(void *to, void *from, size_t bytes) { CALL; memcpy(to, from, bytes); return SUCCESS; }
int cuMemsetD8Async(void *address, unsigned char byte, size_t bytes, void *stream) { CALL;
    memset(address, byte, bytes);
    move(FILLED, bytes);
    return SUCCESS;
}
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, void *stream) { CALL;
    memcpy(to, from, bytes);
    move(UP, bytes);
    return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, void *from, size_t bytes, void *stream) { CALL;
    memcpy(to, from, bytes);
    move(DOWN, bytes);
    return SUCCESS;
}

/* CUDA_MEMCPY2D, as in cuda.h. */
struct copy {
    size_t from_x, from_y; int from_kind; const char *from_host, *from_device; void *from_array; size_t from_pitch;
    size_t to_x, to_y; int to_kind; char *to_host, *to_device; void *to_array; size_t to_pitch;
    size_t width, height;
};
int cuMemcpy2DAsync_v2(const struct copy *c, void *stream) { CALL;
    const size_t limit = 2147483647;
    if (c->from_pitch < c->width || c->from_pitch > limit || c->to_pitch < c->width || c->to_pitch > limit) return INVALID;
    const char *from = (c->from_kind == 1 ? c->from_host : c->from_device) + c->from_y * c->from_pitch + c->from_x;
    char *to = (c->to_kind == 1 ? c->to_host : c->to_device) + c->to_y * c->to_pitch + c->to_x;
    for (size_t row = 0; row < c->height; row++) memcpy(to + row * c->to_pitch, from + row * c->from_pitch, c->width);
    move(c->from_kind == 1 ? UP : c->to_kind == 1 ? DOWN : ACROSS, c->width * c->height);
    record("copy of rows");
    return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(void *to, void *from, size_t bytes, void *stream) { CALL;
    record("copy");
    memcpy(to, from, bytes);
    move(ACROSS, bytes);
    return SUCCESS;
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int begun, failures = -1;

/* Waits until FAKE_MEETING loads have begun: none may wait for the end of another one. */
static int wait_for_loads(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    pthread_mutex_lock(&lock);
    begun++;
    pthread_cond_broadcast(&changed);
    int code = 0;
    while (begun < setting("FAKE_MEETING") && code == 0) code = pthread_cond_timedwait(&changed, &lock, &end);
    pthread_mutex_unlock(&lock);
    return code ? TIMEOUT : SUCCESS;
}

/* Returns whether this is one of the first FAKE_FAILURES loads. */
static int fails(void) {
    pthread_mutex_lock(&lock);
    if (failures < 0) failures = setting("FAKE_FAILURES");
    int fails = failures > 0;
    failures -= fails;
    pthread_mutex_unlock(&lock);
    return fails;
}

int cuModuleLoadData(char **module, const char *text) { CALL;
    record("load");
    int code = wait_for_loads();
    /* Long enough for concurrent loads to overlap. Faults need many loads. */
    if (access(getenv("FAKE_FAULTS"), F_OK)) usleep(10000);
    if (code == SUCCESS && fails()) code = OUT_OF_MEMORY;
    if (code == SUCCESS) { *module = strdup(text); alive(1); hold(1); }
    return code;
}
int cuModuleUnload(char *module) { RELEASE; record("unload"); free(module); alive(-1); return SUCCESS; }
int cuModuleGetFunction(const char **function, const char *module, const char *name) { CALL;
    *function = strstr(module, name);
    return *function ? SUCCESS : NOT_FOUND;
}

/* Maximum number of threads, or number of registers. */
int cuFuncGetAttribute(int *value, int attribute, void *function) { CALL; *value = attribute == 0 ? 1024 : 32; return SUCCESS; }
int cuFuncSetAttribute(void *function, int attribute, int value) { CALL; return SUCCESS; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t bytes) { CALL;
    *blocks = 2048 / threads;
    return SUCCESS;
}
int cuLaunchKernel(const char *function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned bytes, struct stream *stream, void **parameters, void **extra) { CALL;
    const unsigned shape[] = {x, y, z, block_x, block_y, block_z, bytes};
    unsigned long long hash = 14695981039346656037u;
    record(stream->of_cust ? "launch on the program's stream" : "launch");
    /* Up to the end of the name. */
    while (*function == '_' || isalnum((unsigned char)*function)) hash = mixed(hash, *function++);
    for (int i = 0; i < 7; i++) hash = mixed(hash, shape[i]);
    pthread_mutex_lock(&lock);
    launched += hash;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}
