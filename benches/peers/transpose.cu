// Measures CUDA C++ with the problems of benches/transpose.rs: a copy of the same bytes, which is the lower bound, cuBLAS's
// geam for the types that it supports, and the textbook's tile of 32 x 32 elements. Every result is checked. README.md
// explains the commands and the columns.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr int WARM_UPS = 3;
constexpr int RUNS = 21;
constexpr int SIDE = 32;
constexpr int LINES = 8;

#define CHECK(call) check_cuda((call), #call, __LINE__)

static void check_cuda(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "transpose.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
        std::exit(2);
    }
}

struct Shape {
    uint64_t rows, columns, count;

    __host__ __device__ uint64_t elements() const { return rows * columns * count; }
};

/// Returns element `i` of the input.
template <typename T> __host__ __device__ T element(uint64_t i) { return (T)(uint32_t)(i * 2654435761u >> 8); }

template <typename T> __global__ void fill(T *data, uint64_t n) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        data[i] = element<T>(i);
}

template <typename T> __global__ void compare(const T *output, Shape shape, unsigned long long *wrong) {
    uint64_t n = shape.elements();
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x) {
        uint64_t row = i % shape.rows, column = i / shape.rows % shape.columns, matrix = i / shape.rows / shape.columns;
        if (output[i] != element<T>((matrix * shape.rows + row) * shape.columns + column)) atomicAdd(wrong, 1);
    }
}

/// A padded tile of 32 x 32 elements, 32 x 8 threads.
template <typename T> __global__ void tiled(const T *input, T *output, Shape shape) {
    __shared__ T tile[SIDE][SIDE + 1];
    uint64_t across = (shape.columns + SIDE - 1) / SIDE, down = (shape.rows + SIDE - 1) / SIDE;
    uint64_t block = blockIdx.x, matrix = block / across / down;
    uint64_t column = block % across * SIDE, row = block / across % down * SIDE;
    input += matrix * shape.rows * shape.columns;
    output += matrix * shape.rows * shape.columns;
    for (int j = threadIdx.y; j < SIDE; j += LINES)
        if (row + j < shape.rows && column + threadIdx.x < shape.columns)
            tile[j][threadIdx.x] = input[(row + j) * shape.columns + column + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < SIDE; j += LINES)
        if (column + j < shape.columns && row + threadIdx.x < shape.rows)
            output[(column + j) * shape.rows + row + threadIdx.x] = tile[threadIdx.x][j];
}

template <typename Work> static double median_microseconds(Work work) {
    std::vector<float> times;
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int run = -WARM_UPS; run < RUNS; run++) {
        CHECK(cudaEventRecord(start));
        work();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        if (run >= 0) times.push_back(milliseconds * 1e3f);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static bool all_right = true;

static void report(const char *peer, Shape shape, size_t bytes, double microseconds, bool right) {
    double elements = shape.elements();
    std::printf("%s\t%llu x %llu x %llu, %zu bytes\t%.2f\t%.4g\t%.4g\t%s\n", peer, (unsigned long long)shape.count,
                (unsigned long long)shape.rows, (unsigned long long)shape.columns, bytes, microseconds,
                2 * elements * bytes / microseconds * 1e6, elements / microseconds * 1e6, right ? "ok exact" : "WRONG");
    std::fflush(stdout);
    all_right &= right;
}

template <typename T> static bool is_transposed(const T *output, Shape shape) {
    unsigned long long *wrong, count;
    CHECK(cudaMalloc(&wrong, sizeof count));
    CHECK(cudaMemset(wrong, 0, sizeof count));
    compare<<<1024, 256>>>(output, shape, wrong);
    CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(wrong));
    return count == 0;
}

/// cuBLAS is column-major: for it, the input is a matrix of `columns` x `rows`.
static cublasStatus_t geam(cublasHandle_t handle, Shape shape, const float *input, float *output) {
    const float one = 1, zero = 0;
    return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, shape.rows, shape.columns, &one, input, shape.columns, &zero,
                       output, shape.rows, output, shape.rows);
}

static cublasStatus_t geam(cublasHandle_t handle, Shape shape, const double *input, double *output) {
    const double one = 1, zero = 0;
    return cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, shape.rows, shape.columns, &one, input, shape.columns, &zero,
                       output, shape.rows, output, shape.rows);
}

template <typename T> static void measure(Shape shape, cublasHandle_t handle) {
    T *input, *output;
    size_t bytes = shape.elements() * sizeof(T);
    CHECK(cudaMalloc(&input, bytes));
    CHECK(cudaMalloc(&output, bytes));
    fill<<<1024, 256>>>(input, shape.elements());
    double copy = median_microseconds([&] { cudaMemcpyAsync(output, input, bytes, cudaMemcpyDeviceToDevice); });
    report("CUDA copy", shape, sizeof(T), copy, true);
    uint64_t blocks = (shape.rows + SIDE - 1) / SIDE * ((shape.columns + SIDE - 1) / SIDE) * shape.count;
    CHECK(cudaMemset(output, 0, bytes));
    double tile = median_microseconds([&] { tiled<<<blocks, dim3(SIDE, LINES)>>>(input, output, shape); });
    report("CUDA C++ tile", shape, sizeof(T), tile, is_transposed(output, shape));
    if constexpr (std::is_floating_point_v<T>) {
        // geam has no batches.
        if (shape.count == 1) {
            CHECK(cudaMemset(output, 0, bytes));
            cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
            double time = median_microseconds([&] { status = geam(handle, shape, input, output); });
            report("cuBLAS geam", shape, sizeof(T), time, status == CUBLAS_STATUS_SUCCESS && is_transposed(output, shape));
        }
    }
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    cublasHandle_t handle;
    int version = 0;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || cublasGetVersion(handle, &version) != CUBLAS_STATUS_SUCCESS) {
        std::fprintf(stderr, "transpose.cu: there is no cuBLAS\n");
        return 2;
    }
    std::printf("# GPU: %s; CUDA %d, cuBLAS %d\n", properties.name, CUDART_VERSION, version);
    std::printf("# median of %d runs after %d warm-ups, CUDA events\n", RUNS, WARM_UPS);
    std::printf("# peer\tcase\tmedian_us\tbytes_per_s\telements_per_s\tcheck\n");
    const Shape shapes[] = {{16384, 16384, 1}, {16383, 8191, 1}, {1000003, 7, 1}, {64, 64, 1 << 14}, {63, 65, 1 << 14}};
    for (Shape shape : shapes) {
        measure<uint8_t>(shape, handle);
        measure<uint16_t>(shape, handle);
        measure<float>(shape, handle);
        measure<double>(shape, handle);
    }
    cublasDestroy(handle);
    return all_right ? 0 : 1;
}
