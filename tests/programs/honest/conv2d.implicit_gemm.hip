// out[n, f, p] as a product of weights [f, cRS] and patches [cRS, p], tiles of 16.
#include <hip/hip_runtime.h>

struct Shape {
    int n, c, h, w, f, oh, ow, stride;
};

__global__ void conv(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y,
                     Shape s) {
    __shared__ float ws[16][16], ps[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int f = blockIdx.y * 16 + ty, p = blockIdx.x * 16 + tx, n = blockIdx.z;
    const int crs = s.c * 9, pixels = s.oh * s.ow;
    const int oy = p / s.ow, ox = p % s.ow;
    float acc = 0.f;
    for (int k0 = 0; k0 < crs; k0 += 16) {
        ws[ty][tx] = f < s.f && k0 + tx < crs ? w[f * crs + k0 + tx] : 0.f;
        const int k = k0 + ty, c = k / 9, r = k % 9 / 3, q = k % 3;
        const int iy = oy * s.stride + r - 1, ix = ox * s.stride + q - 1;
        ps[ty][tx] = k < crs && p < pixels && iy >= 0 && iy < s.h && ix >= 0 && ix < s.w
                         ? x[((n * s.c + c) * s.h + iy) * s.w + ix]
                         : 0.f;
        __syncthreads();
#pragma unroll 16
        for (int i = 0; i < 16; ++i) acc += ws[ty][i] * ps[i][tx];
        __syncthreads();
    }
    if (f < s.f && p < pixels) y[(n * s.f + f) * pixels + p] = acc + b[f];
}

extern "C" void run(const float* x, const float* w, const float* b, int64_t inputs, int64_t outputs, int64_t stride, int64_t n,
                    int64_t c, int64_t h, int64_t wd, int64_t w_0, int64_t w_1, int64_t w_2, int64_t w_3, int64_t b_0, float* out,
                    hipStream_t stream) {
    Shape s{int(n), int(c), int(h), int(wd), int(w_0), int((h - 1) / stride + 1), int((wd - 1) / stride + 1), int(stride)};
    conv<<<dim3((s.oh * s.ow + 15) / 16, (s.f + 15) / 16, n), dim3(16, 16), 0, stream>>>(x, w, b, out, s);
}
