// ds_bpermute, waits and scheduling hints; constants go to the device by symbol.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

__constant__ float kScale[2];
static __device__ __constant__ int kTable[] = {0, 1};

template <typename T, int B>
__global__ __launch_bounds__(B) __attribute__((amdgpu_waves_per_eu(1, 4))) void sum_rows(const T* __restrict__ x, float* __restrict__ y, int cols) {
    extern __shared__ double raw[];
    T* tile = reinterpret_cast<T*>(raw);
    for (int i = threadIdx.x; i < cols; i += B) tile[i] = x[blockIdx.x * cols + i];
    asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
    __builtin_amdgcn_s_barrier();
    float s = 0.f;
    for (int i = threadIdx.x; i < cols; i += B) s += static_cast<float>(tile[i]) * kScale[kTable[i & 1]];
    asm volatile("" : "+v"(s));
    const int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    for (int o = 32; o; o >>= 1) s += __int_as_float(__builtin_amdgcn_ds_bpermute((lane ^ o) * 4, __float_as_int(s)));
    __builtin_amdgcn_sched_group_barrier(0x8, 1, 0);
    if (lane == 0) y[__builtin_amdgcn_readfirstlane(blockIdx.x)] = s;
}

torch::Tensor forward(torch::Tensor x) {
    x = x.contiguous();
    const float ones[2] = {1.f, 1.f};
    hipMemcpyToSymbol(HIP_SYMBOL(kScale), ones, sizeof(ones));
    auto y = torch::empty({x.size(0)}, x.options().dtype(torch::kFloat));
    if (x.dtype() == torch::kFloat32)
        sum_rows<float, 64><<<x.size(0), 64, x.size(1) * 4>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    else if (x.dtype() == torch::kHalf)
        sum_rows<c10::Half, 64><<<x.size(0), 64, x.size(1) * 2>>>(x.data_ptr<c10::Half>(), y.data_ptr<float>(), x.size(1));
    else
        TORCH_CHECK(false, "unsupported dtype ", x.dtype());
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
