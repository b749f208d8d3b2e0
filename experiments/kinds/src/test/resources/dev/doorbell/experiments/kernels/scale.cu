// scale: a kernel without any queue pair; forever: one that waits in vain.
//
// Compiled by: nvcc -ptx -O3 -arch=compute_75 -lineinfo scale.cu; .version lowered to 8.2.
extern "C" __global__ void scale(const float *in, float *out, float factor, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * factor;
  }
}
extern "C" __global__ void forever(volatile unsigned *flag) {
  while (*flag == 0) {
  }
}
