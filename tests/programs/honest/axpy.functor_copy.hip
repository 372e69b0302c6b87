// y is copied device to device, a functor is applied in place, coefficients come from a module variable.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

template <typename T> struct Scale {
    T alpha;
    __device__ __forceinline__ T operator()(T x, T y) const { return alpha * x + y; }
};

template <typename F, typename T> __global__ void elementwise(const T* x, T* y, int n, F f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = static_cast<T>(f(static_cast<decltype(F::alpha)>(x[i]), static_cast<decltype(F::alpha)>(y[i])));
}

at::Tensor forward(at::Tensor x, at::Tensor y, double alpha) {
    auto in = x.contiguous(), other = y.contiguous();
    auto out = at::empty_like(other);
    hipStream_t stream = at::cuda::getCurrentCUDAStream();
    hipError_t status = hipMemcpyAsync(out.data_ptr(), other.data_ptr(), other.nbytes(), hipMemcpyDeviceToDevice, stream);
    TORCH_CHECK(status == hipSuccess, "copy failed: ", hipGetErrorString(status));
    const int n = in.numel(), threads = 128;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "axpy", [&] {
        using acc_t = std::conditional_t<std::is_same_v<scalar_t, double>, double, float>;
        elementwise<<<(n + threads - 1) / threads, threads, 0, stream>>>(in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n,
                                                                       Scale<acc_t>{static_cast<acc_t>(alpha)});
    });
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
