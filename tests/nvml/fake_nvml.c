/* A libnvidia-ml.so.1 for tests: the functions that pynvml calls, over a state that tests script while code runs.
 *
 * The state is a file, mapped and shared, whose layout fake_gpu.py mirrors; $FAKE_NVML_STATE names it. Several processes
 * see the same GPUs. Each call can be told to fail with a code of NVML's, and is counted.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICES 4
#define PROCESSES 16

enum { SUCCESS = 0, UNINITIALIZED = 1, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, NOT_LOADED = 9 };

typedef unsigned long long u64;
typedef struct { unsigned pid, padding; u64 used; } process_t;
typedef struct {
  char uuid[64], name[64];
  u64 total, reserved, used;
  int memory_v1_code, memory_v2_code, list_v3_code, list_v2_code;
  unsigned accounting, accounted_pid;
  u64 accounted;
  unsigned parent;  /* 1 + the index of the GPU that this MIG instance is a part of; 0 for a GPU */
  unsigned processes_count;
  process_t processes[PROCESSES];
} device_t;
typedef struct {
  int init_code;
  unsigned latency_us;
  u64 inits, shutdowns, memory_calls, list_calls, setting_calls;
  unsigned devices_count, padding;
  device_t devices[DEVICES];
} state_t;

static state_t *state;

static state_t *attach(void) {
  const char *path = getenv("FAKE_NVML_STATE");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return NULL;
  void *mapped = mmap(NULL, sizeof(state_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? NULL : mapped;
}

static void count(u64 *counter) {
  __sync_fetch_and_add(counter, 1);
  if (state->latency_us) usleep(state->latency_us);
}

int nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  if (!state) state = attach();
  if (!state) return NOT_LOADED;
  if (state->init_code) return state->init_code;
  count(&state->inits);
  return SUCCESS;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return state ? (count(&state->shutdowns), SUCCESS) : UNINITIALIZED; }
const char *nvmlErrorString(int code) { return code == 999 ? "Unknown Error" : "an error of the fake"; }

static unsigned gpus(device_t **found) {
  unsigned kept = 0;
  for (unsigned i = 0; i < state->devices_count; i++)
    if (!state->devices[i].parent) found[kept++] = &state->devices[i];
  return kept;
}

int nvmlDeviceGetCount_v2(unsigned *number) {
  device_t *found[DEVICES];
  *number = gpus(found);
  return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t **handle) {
  device_t *found[DEVICES];
  if (index >= gpus(found)) return NOT_FOUND;
  *handle = found[index];
  return SUCCESS;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, device_t **handle) {
  for (unsigned i = 0; i < state->devices_count; i++)
    if (!strcmp(state->devices[i].uuid, uuid)) { *handle = &state->devices[i]; return SUCCESS; }
  return NOT_FOUND;
}
int nvmlDeviceGetUUID(device_t *device, char *text, unsigned length) { strncpy(text, device->uuid, length); return SUCCESS; }
int nvmlDeviceGetName(device_t *device, char *text, unsigned length) { strncpy(text, device->name, length); return SUCCESS; }

int nvmlDeviceGetMemoryInfo(device_t *device, u64 *memory) {
  count(&state->memory_calls);
  if (device->memory_v1_code) return device->memory_v1_code;
  memory[0] = device->total;
  memory[2] = device->used + device->reserved;
  memory[1] = memory[0] - memory[2];
  return SUCCESS;
}
int nvmlDeviceGetMemoryInfo_v2(device_t *device, u64 *memory) {
  count(&state->memory_calls);
  if (device->memory_v2_code) return device->memory_v2_code;
  memory[1] = device->total; /* memory[0] holds the version */
  memory[2] = device->reserved;
  memory[4] = device->used;
  memory[3] = device->total - device->used - device->reserved;
  return SUCCESS;
}

/* Not NVML's: one process, listed already, takes and gives back memory within a single call. */
void fakeSpike(unsigned index, unsigned pid, u64 size, unsigned microseconds) {
  device_t *device = &state->devices[index];
  for (int round = 0; round < 2; round++, size = -size) {
    device->used += size;
    for (unsigned i = 0; i < device->processes_count; i++)
      if (device->processes[i].pid == pid) device->processes[i].used += size;
    if (!round) usleep(microseconds);
  }
}

typedef struct { unsigned pid; u64 used; unsigned instance, compute; } entry_t;

static int list(device_t *device, unsigned *number, entry_t *entries, int code) {
  if (!entries) count(&state->list_calls); /* pynvml asks twice: for the number, then for the entries */
  if (code) return code;
  unsigned room = *number, have = device->processes_count;
  *number = have;
  if (!have) return SUCCESS;
  if (room < have || !entries) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < have; i++)
    entries[i] = (entry_t){device->processes[i].pid, device->processes[i].used, ~0u, ~0u};
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(device_t *device, unsigned *number, entry_t *entries) {
  return list(device, number, entries, device->list_v3_code);
}
int nvmlDeviceGetComputeRunningProcesses_v2(device_t *device, unsigned *number, entry_t *entries) {
  return list(device, number, entries, device->list_v2_code);
}

int nvmlDeviceGetAccountingMode(device_t *device, unsigned *mode) { *mode = device->accounting; return SUCCESS; }
int nvmlDeviceSetAccountingMode(device_t *device, unsigned mode) {
  count(&state->setting_calls);
  device->accounting = mode;
  return SUCCESS;
}
int nvmlDeviceSetPersistenceMode(device_t *device, unsigned mode) {
  (void)device, (void)mode;
  count(&state->setting_calls);
  return SUCCESS;
}
int nvmlDeviceGetAccountingStats(device_t *device, unsigned pid, void *stats) {
  if (!device->accounting) return NOT_SUPPORTED;
  if (device->accounted_pid != pid) return NOT_FOUND;
  memset(stats, 0, 64);
  ((u64 *)stats)[1] = device->accounted; /* after gpuUtilization and memoryUtilization */
  return SUCCESS;
}

static unsigned instances(device_t *device, device_t **found) {
  unsigned kept = 0, parent = 1 + (unsigned)(device - state->devices);
  for (unsigned i = 0; i < state->devices_count; i++)
    if (state->devices[i].parent == parent) found[kept++] = &state->devices[i];
  return kept;
}
int nvmlDeviceGetMigMode(device_t *device, unsigned *current, unsigned *pending) {
  device_t *found[DEVICES];
  *current = *pending = instances(device, found) > 0;
  return SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(device_t *device, unsigned *number) {
  (void)device;
  *number = 7;
  return SUCCESS;
}
int nvmlDeviceGetMigDeviceHandleByIndex(device_t *device, unsigned index, device_t **handle) {
  device_t *found[DEVICES];
  if (index >= instances(device, found)) return NOT_FOUND;
  *handle = found[index];
  return SUCCESS;
}
