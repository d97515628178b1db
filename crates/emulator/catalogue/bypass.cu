// Cases of the catalogue without accessors: those whose bugs the accessors for global memory prevent on the device.
//
//   nvcc -o bypass bypass.cu
//   ./bypass NAME bug|twin
//
// Like memory.rs, but buffers are as long as the windows, so an access beyond a window is beyond an allocation.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_pipeline.h>

static const uint32_t LEN = 256;

struct Args {
    const uint32_t *input;
    uint32_t *output;
    uint32_t right;
};

__device__ static uint32_t global_x() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void unguarded_store(Args args) {
    uint32_t i = global_x();
    if (!args.right || i < LEN)
        args.output[i] = 1;
}

__global__ void unguarded_load(Args args) {
    uint32_t i = global_x();
    uint32_t next = args.right && i + 1 >= LEN ? 0 : args.input[i + 1];
    args.output[i] = next;
}

// The input has 128 elements for the twin, and 126 otherwise.
__global__ void tail_of_four(Args args) {
    uint4 four = reinterpret_cast<const uint4 *>(args.input)[threadIdx.x];
    args.output[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void misaligned_part(Args args) {
    uint32_t *part = args.output + (args.right ? 2 : 1);
    reinterpret_cast<uint2 *>(part)[threadIdx.x] = make_uint2(threadIdx.x, threadIdx.x);
}

// Like tail_of_four, but copied to shared memory.
__global__ void copied_beyond(Args args) {
    __shared__ uint4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], reinterpret_cast<const uint4 *>(args.input) + threadIdx.x, sizeof(uint4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    args.output[threadIdx.x] = tile[threadIdx.x].x;
}

struct Case {
    const char *name;
    void (*kernel)(Args);
    uint32_t blocks, threads;
    // Elements of the input, for the bug and for the twin.
    uint32_t input[2];
};

static const Case CASES[] = {
    {"unguarded_store", unguarded_store, 9, 32, {LEN, LEN}},
    {"unguarded_load", unguarded_load, 8, 32, {LEN, LEN}},
    {"tail_of_four", tail_of_four, 1, 32, {126, 128}},
    {"misaligned_part", misaligned_part, 1, 32, {LEN, LEN}},
    {"copied_beyond", copied_beyond, 1, 32, {126, 128}},
};

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "error: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void launch(const Case &one, uint32_t right) {
    uint32_t numbers[LEN];
    for (uint32_t i = 0; i < LEN; i++)
        numbers[i] = i;
    uint32_t *input, *gap, *output;
    check(cudaMalloc(&input, one.input[right] * sizeof(uint32_t)));
    check(cudaMalloc(&gap, 16 * sizeof numbers));
    check(cudaMalloc(&output, sizeof numbers));
    // The memory after each buffer must be free, so that an access beyond its end does not reach the other one.
    check(cudaFree(gap));
    if (input < output + 2 * LEN && output < input + 2 * LEN) {
        fprintf(stderr, "error: the buffers are too close to each other\n");
        exit(1);
    }
    check(cudaMemcpy(input, numbers, one.input[right] * sizeof(uint32_t), cudaMemcpyHostToDevice));
    one.kernel<<<one.blocks, one.threads>>>(Args{input, output, right});
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
    bool twin = argc == 3 && !strcmp(argv[2], "twin");
    if (argc != 3 || (!twin && strcmp(argv[2], "bug"))) {
        fprintf(stderr, "usage: bypass NAME bug|twin\n");
        return 2;
    }
    for (const Case &one : CASES) {
        if (!strcmp(one.name, argv[1])) {
            launch(one, twin);
            printf("launched %s\n", one.name);
            return 0;
        }
    }
    fprintf(stderr, "error: there is no case %s\n", argv[1]);
    return 1;
}
