// Measures CUDA C++ with the problems of benches/histogram.rs: CUB's DeviceHistogram::HistogramEven, one global atomic
// addition per sample, and reading the samples alone, which is the lower bound. Every result is checked. README.md explains
// the commands and the columns.

#include <cub/device/device_histogram.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

constexpr int WARM_UPS = 3;
constexpr int RUNS = 21;
constexpr int BLOCK = 256;

#define CHECK(call) check_cuda((call), #call, __LINE__)

static void check_cuda(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "histogram.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
        std::exit(2);
    }
}

// ---- The data -------------------------------------------------------------------------------------------------------

constexpr const char *DISTRIBUTIONS[] = {"Uniform", "Constant", "Zipf", "Sorted", "Sawtooth", "TwoValue"};

/// SplitMix64, as in the crate's benchmark.
static uint64_t random_number(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Returns the bins of `count` samples.
static std::vector<uint32_t> bins_of(const std::string &distribution, uint64_t bins, uint64_t count) {
    std::vector<double> cumulated;
    double sum = 0;
    if (distribution == "Zipf")
        for (uint64_t k = 1; k <= bins; k++) cumulated.push_back(sum += std::pow((double)k, -1.1));
    std::vector<uint32_t> result(count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t random = random_number(i), bin;
        if (distribution == "Uniform") {
            bin = (random >> 32) * bins >> 32;
        } else if (distribution == "Constant") {
            bin = bins / 3;
        } else if (distribution == "Zipf") {
            double place = (random >> 11) * 0x1p-53 * sum;
            bin = std::upper_bound(cumulated.begin(), cumulated.end(), place) - cumulated.begin();
        } else if (distribution == "Sorted") {
            bin = i * bins / count;
        } else if (distribution == "Sawtooth") {
            bin = i % bins;
        } else {
            bin = bins / 3 * (1 + (random >> 63));
        }
        result[i] = std::min(bin, bins - 1);
    }
    return result;
}

/// Returns a sample in `bin`: the middle of the bin for floats between 0 and 1, its index for integers.
template <class T> static T sample_of(uint32_t bin, int bins) {
    if (std::is_same<T, float>::value) return (T)((bin + 0.5) / bins);
    return (T)bin;
}

// ---- The kernels ----------------------------------------------------------------------------------------------------

/// Reads all samples, 16 bytes at a time, and uses them, so that the loads are not removed.
__global__ void read_only(const uint4 *__restrict__ x, size_t packs, unsigned *__restrict__ out) {
    unsigned all = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < packs; i += (size_t)gridDim.x * blockDim.x) {
        uint4 pack = x[i];
        all ^= pack.x ^ pack.y ^ pack.z ^ pack.w;
    }
    // Almost never true, but the compiler does not know that.
    if (all == 0x9e3779b9u) out[0] = all;
}

/// One atomic addition per sample.
__global__ void global_atomics(const uint8_t *__restrict__ x, size_t n, unsigned *__restrict__ counts) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i]], 1u);
}

// ---- Measuring ------------------------------------------------------------------------------------------------------

static bool all_right = true;

template <class Work> static double median_us(Work work) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int run = -WARM_UPS; run < RUNS; run++) {
        CHECK(cudaEventRecord(start));
        work();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, end));
        if (run >= 0) times.push_back(ms * 1e3f);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    std::nth_element(times.begin(), times.begin() + RUNS / 2, times.end());
    return times[RUNS / 2];
}

static void report(const char *peer, const std::string &name, double us, double bytes, double samples, const char *verdict) {
    std::printf("%s\t%s\t%.2f\t%.4g\t%.4g\t%s\n", peer, name.c_str(), us, bytes / us * 1e6, samples / us * 1e6, verdict);
    std::fflush(stdout);
}

/// Samples on the device, and their expected counts.
template <class T> struct Data {
    int bins;
    size_t count;
    std::string name;
    std::vector<unsigned> expected;
    T *samples;
    unsigned *counts;

    Data(const std::string &kind, const std::string &distribution, int bins, size_t count)
        : bins(bins), count(count), expected(bins) {
        name = kind + " n=" + std::to_string(count) + " bins=" + std::to_string(bins) + " " + distribution;
        std::vector<T> host(count);
        std::vector<uint32_t> of_samples = bins_of(distribution, bins, count);
        for (size_t i = 0; i < count; i++) {
            host[i] = sample_of<T>(of_samples[i], bins);
            expected[of_samples[i]]++;
        }
        CHECK(cudaMalloc(&samples, count * sizeof(T)));
        CHECK(cudaMalloc(&counts, bins * sizeof(unsigned)));
        CHECK(cudaMemcpy(samples, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }

    ~Data() {
        cudaFree(samples);
        cudaFree(counts);
    }

    /// Checks the counts of a first run from zero, then measures `work`.
    template <class Work> void row(const char *peer, Work work) {
        std::vector<unsigned> actual(bins);
        CHECK(cudaMemset(counts, 0, bins * sizeof(unsigned)));
        work();
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(actual.data(), counts, bins * sizeof(unsigned), cudaMemcpyDeviceToHost));
        bool right = actual == expected;
        all_right &= right;
        report(peer, name, median_us(work), (double)count * sizeof(T), (double)count, right ? "ok exact" : "WRONG");
    }

    void measure_reading(int processors) {
        auto work = [&] {
            read_only<<<processors * 8, BLOCK>>>((const uint4 *)samples, count * sizeof(T) / 16, counts);
            CHECK(cudaGetLastError());
        };
        report("CUDA read", name, median_us(work), (double)count * sizeof(T), (double)count, "ok");
    }

    /// The levels have a separate type, because 256 does not fit into a byte.
    template <class Level> void measure_cub(Level lower, Level upper) {
        size_t bytes = 0;
        void *scratch = nullptr;
        auto count_with = [&](void *memory) {
            return cub::DeviceHistogram::HistogramEven(
                memory, bytes, (const T *)samples, (unsigned *)counts, bins + 1, lower, upper, (long long)count);
        };
        CHECK(count_with(nullptr));
        CHECK(cudaMalloc(&scratch, bytes));
        row("CUB HistogramEven", [&] { CHECK(count_with(scratch)); });
        CHECK(cudaFree(scratch));
    }
};

int main() {
    cudaDeviceProp device;
    int runtime, driver;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    std::printf("# GPU: %s; CUDA runtime %d, driver %d, CUB %d\n", device.name, runtime, driver, CUB_VERSION);
    std::printf("# median of %d runs after %d warm-ups, CUDA events\n", RUNS, WARM_UPS);
    std::printf("# peer\tcase\tmedian_us\tbytes_per_s\tsamples_per_s\tcheck\n");
    int processors = device.multiProcessorCount;
    for (const char *distribution : DISTRIBUTIONS) {
        Data<uint8_t> data("bytes u8", distribution, 256, size_t(1) << 27);
        data.measure_reading(processors);
        data.measure_cub(0, 256);
    }
    for (const char *distribution : DISTRIBUTIONS) {
        Data<uint16_t> data("low bits u16", distribution, 1024, size_t(1) << 26);
        data.measure_reading(processors);
        data.measure_cub(0, 1024);
    }
    for (int bins : {256, 1024, 4096, 16384, 57344, 65536, 1 << 20})
        for (const char *distribution : DISTRIBUTIONS) {
            Data<float> data("even f32", distribution, bins, size_t(1) << 26);
            if (bins == 256) data.measure_reading(processors);
            data.measure_cub(0.0f, 1.0f);
        }
    Data<uint8_t> items("items u8", "Uniform", 256, size_t(1) << 26);
    // The kernel adds to the counts, so every run clears them.
    items.row("CUDA C++ global atomics", [&] {
        CHECK(cudaMemsetAsync(items.counts, 0, items.bins * sizeof(unsigned)));
        global_atomics<<<processors * 8, BLOCK>>>(items.samples, items.count, items.counts);
        CHECK(cudaGetLastError());
    });
    return all_right ? 0 : 1;
}
