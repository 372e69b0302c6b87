#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <array>

union Word {
    float number;
    int bits;
};
struct Inner {
    bool flag;
    long count;
};
struct Nested {
    char c;
    double d;
    Word word;
    Inner inner[2];
};
struct Fields {
    unsigned a : 3, b : 5;
    int c : 20;
};
struct __attribute__((packed)) Packed {
    char c;
    float f;
};
enum class Choice : short { kOne = 1, kTwo };
struct Made {
    float value;
    __host__ __device__ explicit Made(float v) : value(v) {}
};

__global__ void sum(float* out, Nested n, Word w, Fields f, Packed p, std::array<int, 4> a, Choice c, __half h, __hip_bfloat16 b,
                    Made m) {
    float word = __builtin_bit_cast(float, w.bits);
    float nested = n.c + n.d + n.word.number + n.inner[1].count + n.inner[0].flag + word;
    out[threadIdx.x] = nested + f.a + f.c + p.f + a[3] + int(c) + __half2float(h) + __bfloat162float(b) + m.value;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Nested nested{1, 2.0, {7.0f}, {{true, 3}, {false, 5}}};
    sum<<<1, 64, 0, stream>>>(out, nested, Word{11.0f}, Fields{3, 0, -100}, Packed{1, 2.5f}, std::array<int, 4>{1, 2, 3, 4},
                              Choice::kTwo, __float2half(0.5f), __float2bfloat16(8), Made(9));
}
