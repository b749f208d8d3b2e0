// Kernels of put.c; put.ptx is made of it by: nvcc -ptx -lineinfo -arch=sm_90 -std=c++17 put.cu
#include <cuda/atomic>
#include <stdint.h>

enum { WORDS = 8, WQE_WORDS = 6 };

static __device__ void fence(bool wanted)
{
	if (wanted)
		__threadfence_system();
}

// Work request and doorbell record, payload and flag, doorbell.
template <bool FENCED>
static __device__ void send(uint64_t *payload, uint64_t *slot, const uint64_t *wqe, uint32_t *record, uint64_t *doorbell)
{
	payload[WORDS - 1] = 1;
	for (int i = 0; i < WQE_WORDS; i++)
		slot[i] = wqe[i];
	fence(true);
	*(volatile uint32_t *)record = 0x01000000;
	fence(true);
	for (int i = 0; i < WORDS - 1; i++)
		payload[i] = 100 + i;
	fence(FENCED);
	*(volatile uint64_t *)doorbell = wqe[0];
}

// The flag arrives behind the payload, in one message.
template <cuda::std::memory_order ORDER>
static __device__ void receive(uint64_t *inbox, uint64_t *sum)
{
	cuda::atomic_ref<uint64_t, cuda::thread_scope_system> flag(inbox[WORDS - 1]);
	while (flag.load(ORDER) == 0)
		;
	uint64_t all = 0;
	for (int i = 0; i < WORDS - 1; i++)
		all += inbox[i];
	*sum = all;
}

extern "C" __global__ void send_fenced(uint64_t *payload, uint64_t *slot, uint64_t *wqe, uint32_t *record, uint64_t *bell)
{
	send<true>(payload, slot, wqe, record, bell);
}

extern "C" __global__ void send_unfenced(uint64_t *payload, uint64_t *slot, uint64_t *wqe, uint32_t *record, uint64_t *bell)
{
	send<false>(payload, slot, wqe, record, bell);
}

extern "C" __global__ void receive_acquire(uint64_t *inbox, uint64_t *sum)
{
	receive<cuda::std::memory_order_acquire>(inbox, sum);
}

extern "C" __global__ void receive_relaxed(uint64_t *inbox, uint64_t *sum)
{
	receive<cuda::std::memory_order_relaxed>(inbox, sum);
}
