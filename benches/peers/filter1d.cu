// Measures CUDA C++ with the problem of `Filter1d`: y[i] = sum over j of x[i - taps/2 + j] * w[j], x zero outside.
//
// Four kernels of increasing complexity and a plain copy of the same bytes, for f32 and i32, the rates of multiply-adds of
// the GPU, and the host time of a launch. Every result is checked. README.md explains the commands and the columns.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

constexpr int SAMPLES = 1 << 26;
constexpr int TAPS = 257;
constexpr int WARM_UPS = 3;
constexpr int RUNS = 21;

// Every 61st output is checked: some in every block of every kernel, and every position within a block in some block.
constexpr int CHECK_EVERY = 61;
constexpr int CHECK_AT_ENDS = 600;
constexpr double F32_TOLERANCE = 1e-6; // times max|x| * sum|w|

#define CHECK(call) check_cuda((call), #call, __LINE__)

static void check_cuda(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "filter1d.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
        std::exit(2);
    }
}

// ---- The kernels ----------------------------------------------------------------------------------------------------
//
// The i32 of the library wraps around. Its peer here is uint32_t, with the same bits and the same instructions,
// because overflow of a signed integer is undefined in C++.

/// One output per thread, everything from global memory.
template <class T>
__global__ void global_memory(const T *__restrict__ x, T *__restrict__ y, const T *__restrict__ w, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int first = i - taps / 2;
    // The taps that have a sample. With this range, the loop needs no test.
    int from = max(0, -first), to = min(taps, n - first);
    T sum = 0;
    for (int j = from; j < to; j++) sum += x[first + j] * w[j];
    y[i] = sum;
}

constexpr int TILE = 256;
constexpr int MAX_HALO = 512;

/// The textbook tile: 256 outputs per block, one per thread. The block loads its samples and their halo into shared memory
/// cooperatively. The taps stay in global memory.
template <class T>
__global__ void shared_tile(const T *__restrict__ x, T *__restrict__ y, const T *__restrict__ w, int n, int taps) {
    __shared__ T tile[TILE + MAX_HALO];
    int first = blockIdx.x * TILE - taps / 2;
    for (int k = threadIdx.x; k < TILE + taps - 1; k += TILE) {
        int i = first + k;
        tile[k] = i >= 0 && i < n ? x[i] : T(0);
    }
    __syncthreads();
    T sum = 0;
    for (int j = 0; j < taps; j++) sum += tile[threadIdx.x + j] * w[j];
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n) y[i] = sum;
}

/// Four elements that are loaded and stored by one 16-byte access.
template <class T> struct alignas(16) Four {
    T at[4];
};

constexpr int OUTPUTS = 16; // per thread
constexpr int THREADS = 128;
constexpr int REGISTER_TILE = OUTPUTS * THREADS;

/// Position of sample i of a tile in shared memory, with `PADDING` words after every 16 samples.
template <int PADDING> __host__ __device__ constexpr int place(int i) {
    return i + i / OUTPUTS * PADDING;
}

__host__ __device__ constexpr int round_up_to_4(int count) {
    return (count + 3) / 4 * 4;
}

template <int PADDING> constexpr int shared_words(int taps) {
    return place<PADDING>(REGISTER_TILE + round_up_to_4(taps)) + round_up_to_4(taps);
}

/// 16 adjacent outputs per thread. A window of samples slides through registers, so that one load of four samples and one of
/// four taps feed 64 multiply-adds. Samples and taps are in shared memory, the taps padded with zeros to a multiple of four.
/// `n` is a multiple of `REGISTER_TILE`.
///
/// Without padding, the 8 threads that a wavefront of 16-byte accesses serves are 16 words apart and share 2 groups of
/// banks. With a padding of 4, they are 20 words apart and use all 32 banks once.
template <class T, int PADDING>
__global__ void __launch_bounds__(THREADS)
    register_tiled(const T *__restrict__ x, T *__restrict__ y, const T *__restrict__ w, int n, int taps) {
    extern __shared__ __align__(16) unsigned char memory[];
    int padded_taps = round_up_to_4(taps);
    T *samples = reinterpret_cast<T *>(memory);
    T *coefficients = samples + place<PADDING>(REGISTER_TILE + padded_taps);

    int tile = blockIdx.x * REGISTER_TILE;
    for (int k = threadIdx.x; k < REGISTER_TILE + padded_taps; k += THREADS) {
        int i = tile - taps / 2 + k;
        samples[place<PADDING>(k)] = i >= 0 && i < n ? x[i] : T(0);
    }
    for (int j = threadIdx.x; j < padded_taps; j += THREADS) coefficients[j] = j < taps ? w[j] : T(0);
    __syncthreads();

    const T *own = samples + place<PADDING>(threadIdx.x * OUTPUTS);
    T window[OUTPUTS + 4], sums[OUTPUTS] = {};
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) window[o] = own[o];
    // Four iterations replace the whole window, so that unrolling turns most of the shifts into register renaming.
#pragma unroll 4
    for (int j = 0; j < padded_taps; j += 4) {
        auto next = *reinterpret_cast<const Four<T> *>(own + place<PADDING>(OUTPUTS + j));
        auto four_taps = *reinterpret_cast<const Four<T> *>(coefficients + j);
#pragma unroll
        for (int k = 0; k < 4; k++) window[OUTPUTS + k] = next.at[k];
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) sums[o] += window[o + k] * four_taps.at[k];
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) window[o] = window[o + 4];
    }

    auto *outputs = reinterpret_cast<Four<T> *>(y + tile + threadIdx.x * OUTPUTS);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o += 4) outputs[o / 4] = {sums[o], sums[o + 1], sums[o + 2], sums[o + 3]};
}

constexpr int CHAINS = 16;
constexpr int ROUNDS = 4096;

/// Chains of dependent multiply-adds, 16 of them to hide their latency.
template <class T> __host__ __device__ T chains(T start, T factor) {
    T values[CHAINS], sum = 0;
    for (int k = 0; k < CHAINS; k++) values[k] = start + T(k);
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < CHAINS; k++) {
            if constexpr (std::is_floating_point_v<T>) values[k] = fmaf(values[k], factor, T(1));
            else values[k] = values[k] * factor + T(1);
        }
    }
    for (int k = 0; k < CHAINS; k++) sum += values[k];
    return sum;
}

/// Only multiply-adds in registers: the rate that no direct filter can exceed.
template <class T> __global__ void ceiling(T *results, T factor) {
    results[blockIdx.x * blockDim.x + threadIdx.x] = chains(T(threadIdx.x), factor);
}

template <int COUNT> struct Bytes {
    alignas(8) unsigned char at[COUNT];
};

constexpr int LIBRARY_ARGUMENTS = 136; // bytes of arguments of the library's kernels for f32,
constexpr int LIBRARY_TAPS = 3840;     // and bytes of their taps

/// Does nothing, with the same number of parameter bytes as the library's kernels.
__global__ void empty(Bytes<LIBRARY_ARGUMENTS>, Bytes<LIBRARY_TAPS>) {}

// ---- Measuring ------------------------------------------------------------------------------------------------------

/// Memory of the device, freed at the end of its scope.
template <class T> struct DeviceArray {
    T *data = nullptr;
    size_t count;

    explicit DeviceArray(size_t count) : count(count) { CHECK(cudaMalloc(&data, bytes())); }
    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size()) {
        CHECK(cudaMemcpy(data, values.data(), bytes(), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray() { cudaFree(data); }

    size_t bytes() const { return count * sizeof(T); }
    std::vector<T> download() const {
        std::vector<T> values(count);
        CHECK(cudaMemcpy(values.data(), data, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }
};

/// Returns the median device time of `work` in microseconds. Each array is several times as large as the L2 cache, so a run
/// does not profit from the one before.
template <class Work> double median_microseconds(Work work) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int run = -WARM_UPS; run < RUNS; run++) {
        CHECK(cudaEventRecord(start));
        work();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        if (run >= 0) times.push_back(milliseconds);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[RUNS / 2] * 1e3;
}

static bool all_correct = true;

/// Prints the line of one case. `verdict` begins with "ok" if the result was right.
static void report(const std::string &peer, const std::string &problem, double microseconds, double bytes,
                   double multiply_adds, const std::string &verdict) {
    double seconds = microseconds * 1e-6;
    std::printf("%s\t%s\t%.2f\t%.4g\t%.4g\t%s\n", peer.c_str(), problem.c_str(), microseconds, bytes / seconds,
                multiply_adds / seconds, verdict.c_str());
    std::fflush(stdout);
    all_correct = all_correct && verdict.rfind("ok", 0) == 0;
}

// ---- The problem and its answer -------------------------------------------------------------------------------------

template <class T> std::vector<T> random_values(size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<T> values(count);
    for (T &value : values) {
        if constexpr (std::is_floating_point_v<T>) value = T(generator() >> 8) / (1 << 23) - 1; // in [-1, 1)
        else value = generator();
    }
    return values;
}

/// Random data, and the expected outputs at some positions.
template <class T> struct Problem {
    // Modulo 2^32, the sum of 64-bit products equals the sum of 32-bit products, even if they overflow.
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

    std::vector<T> samples = random_values<T>(SAMPLES, 1), taps = random_values<T>(TAPS, 2);
    std::vector<int> positions;
    std::vector<Sum> expected;
    double scale = 0; // max|x| * sum|w|

    Problem() {
        for (int i = 0; i < SAMPLES; i++)
            if (i < CHECK_AT_ENDS || i >= SAMPLES - CHECK_AT_ENDS || i % CHECK_EVERY == 0) positions.push_back(i);
        for (int i : positions) expected.push_back(output(i));
        if constexpr (std::is_floating_point_v<T>) {
            double peak = 0;
            for (T x : samples) peak = std::max(peak, std::abs(double(x)));
            for (T w : taps) scale += peak * std::abs(double(w));
        }
    }

    Sum output(int position) const {
        Sum sum = 0;
        for (int j = 0; j < TAPS; j++) {
            int i = position - TAPS / 2 + j;
            if (i >= 0 && i < SAMPLES) sum += Sum(samples[i]) * Sum(taps[j]);
        }
        return sum;
    }

    std::string verdict(const std::vector<T> &outputs) const {
        double worst = 0;
        for (size_t k = 0; k < positions.size(); k++) {
            T actual = outputs[positions[k]];
            bool right;
            if constexpr (std::is_floating_point_v<T>) {
                double error = std::abs(actual - expected[k]) / scale;
                right = error <= F32_TOLERANCE; // false for NaN
                worst = std::max(worst, error);
            } else {
                right = actual == T(expected[k]);
            }
            if (!right) return "WRONG at " + std::to_string(positions[k]);
        }
        if (!std::is_floating_point_v<T>) return "ok exact";
        char text[32];
        std::snprintf(text, sizeof text, "ok error %.1e", worst);
        return text;
    }
};

template <class T> constexpr const char *type_name() {
    return std::is_floating_point_v<T> ? "f32" : "i32";
}

static std::string case_name(const char *type) {
    return std::string(type) + " n=" + std::to_string(SAMPLES) + " taps=" + std::to_string(TAPS);
}

/// Measures the copy and all kernels on one element type.
template <class T> void measure_filters() {
    Problem<T> problem;
    DeviceArray<T> x(problem.samples), w(problem.taps), y(SAMPLES);
    auto measure = [&](const char *peer, double multiply_adds, auto work, auto verdict) {
        CHECK(cudaMemset(y.data, 0xff, y.bytes())); // an output that is not written is NaN, or -1
        double microseconds = median_microseconds(work);
        double bytes = double(x.bytes()) + double(y.bytes()); // every sample read once, every output written once
        report(peer, case_name(type_name<T>()), microseconds, bytes, multiply_adds, verdict(y.download()));
    };
    auto filter = [&](const char *peer, auto kernel, int outputs, int threads, int shared_bytes) {
        int blocks = (SAMPLES + outputs - 1) / outputs;
        measure(
            peer, double(SAMPLES) * TAPS,
            [&] { kernel<<<blocks, threads, shared_bytes>>>(x.data, y.data, w.data, SAMPLES, TAPS); },
            [&](const std::vector<T> &outputs) { return problem.verdict(outputs); });
    };
    static_assert(TAPS <= MAX_HALO + 1 && SAMPLES % REGISTER_TILE == 0, "the kernels rely on it");
    static_assert(sizeof(T) * shared_words<4>(TAPS) <= 48 * 1024, "more shared memory must be requested");

    measure(
        "CUDA copy", 0, [&] { CHECK(cudaMemcpyAsync(y.data, x.data, x.bytes(), cudaMemcpyDeviceToDevice)); },
        [&](const std::vector<T> &outputs) { return outputs == problem.samples ? "ok exact" : "WRONG"; });
    filter("CUDA C++ global memory", global_memory<T>, 256, 256, 0);
    filter("CUDA C++ shared tile", shared_tile<T>, TILE, TILE, 0);
    filter("CUDA C++ register-tiled", register_tiled<T, 0>, REGISTER_TILE, THREADS, sizeof(T) * shared_words<0>(TAPS));
    filter("CUDA C++ register-tiled padded", register_tiled<T, 4>, REGISTER_TILE, THREADS,
           sizeof(T) * shared_words<4>(TAPS));
}

template <class T> void measure_ceiling(const char *peer, T factor) {
    int multiprocessors;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    int blocks = 8 * multiprocessors, threads = 256; // fills the multiprocessors once
    DeviceArray<T> results(size_t(blocks) * threads);
    CHECK(cudaMemset(results.data, 0xff, results.bytes()));
    double microseconds = median_microseconds([&] { ceiling<<<blocks, threads>>>(results.data, factor); });

    // The results must equal the host's bit by bit, so the compiler has omitted no multiply-add.
    std::vector<T> expected, actual = results.download();
    for (int thread = 0; thread < threads; thread++) expected.push_back(chains(T(thread), factor));
    bool right = true;
    for (size_t i = 0; i < actual.size(); i++) right = right && actual[i] == expected[i % threads];
    std::string problem = std::string(type_name<T>()) + " in registers";
    report(peer, problem, microseconds, 0, double(actual.size()) * CHAINS * ROUNDS, right ? "ok exact" : "WRONG");
}

/// Measures the host time of a bare launch: only the driver's call, as the library makes it, on a stream like the library's.
/// The calls of a run fit into the stream's queue, so none waits for the device.
static void measure_launch() {
    constexpr int CALLS = 1000;
    // Looked up at run time, so that the program need not be linked with the driver's library.
    void *address;
    CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &address, CUDART_VERSION, cudaEnableDefault));
    auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(address);
    cudaFunction_t function;
    cudaStream_t stream;
    CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(empty)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Bytes<LIBRARY_ARGUMENTS> arguments = {};
    Bytes<LIBRARY_TAPS> taps = {};
    void *parameters[] = {&arguments, &taps};
    int failed = 0;
    std::vector<double> times;
    for (int run = -WARM_UPS; run < RUNS; run++) {
        auto start = std::chrono::steady_clock::now();
        for (int call = 0; call < CALLS; call++)
            failed += launch(function, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, nullptr) != CUDA_SUCCESS;
        std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        CHECK(cudaStreamSynchronize(stream));
        if (run >= 0) times.push_back(time.count() / CALLS);
    }
    CHECK(cudaStreamDestroy(stream));
    std::sort(times.begin(), times.end());
    report("CUDA launch", "empty kernel, host time", times[RUNS / 2], 0, 0, failed ? "WRONG: launches failed" : "ok");
}

static void describe_machine() {
    cudaDeviceProp device;
    int driver, runtime, kilohertz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    std::printf("# GPU: %s, %d multiprocessors, up to %d MHz, %d MiB L2, compute capability %d.%d\n", device.name,
                device.multiProcessorCount, kilohertz / 1000, device.l2CacheSize >> 20, device.major, device.minor);
    std::string kernel_module;
    if (std::getline(std::ifstream("/proc/driver/nvidia/version"), kernel_module))
        std::printf("# driver: %s\n", kernel_module.c_str());
    std::printf("# CUDA: driver API %d.%d, runtime %d.%d, nvcc %d.%d.%d\n", driver / 1000, driver % 1000 / 10,
                runtime / 1000, runtime % 1000 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
    std::printf("# %d samples, %d taps; median of %d runs after %d warm-ups, CUDA events\n", SAMPLES, TAPS, RUNS,
                WARM_UPS);
    std::printf("# peer\tcase\tmedian_us\tbytes_per_s\tmultiply_adds_per_s\tcheck\n");
}

int main() {
    describe_machine();
    measure_ceiling<float>("CUDA FFMA ceiling", 1.0001f);
    measure_ceiling<uint32_t>("CUDA IMAD ceiling", 3);
    measure_filters<float>();
    measure_filters<uint32_t>();
    measure_launch();
    return all_correct ? 0 : 1;
}
