// The kernel that a server runs before a program's first one: see FirstKernel. After a change, here:
//   nvcc -fatbin -gencode arch=compute_75,code=compute_75 -o first.fatbin first.cu
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}
