// Kernels of put.c; put.ptx is made of it by: nvcc -ptx -lineinfo -arch=sm_90 -std=c++17 put.cu
#include <cuda/atomic>
#include <stdint.h>

enum { WORDS = 8, WQE_WORDS = 6 };

static __device__ void fence(bool wanted)
{
	if (wanted)
		__threadfence_system();
}

// What a sender does after its doorbell: nothing, or it waits for the CQE and uses the payload again.
enum After { NOTHING, REUSES, WAITS_RELAXED, WAITS };

static __device__ void wait_for(uint32_t *last, cuda::std::memory_order order)
{
	cuda::atomic_ref<uint32_t, cuda::thread_scope_system> word(*last);
	while (word.load(order) >> 28 != 0)
		;
}

// Work request and doorbell record, payload and flag, doorbell.
template <bool WQE_FENCED, bool FENCED, After AFTER>
static __device__ void send(uint64_t *payload, uint64_t *slot, const uint64_t *wqe, uint32_t *record, uint64_t *doorbell,
			    uint32_t *cqe)
{
	payload[WORDS - 1] = 1;
	for (int i = 0; i < WQE_WORDS; i++)
		slot[i] = wqe[i];
	fence(WQE_FENCED);
	*(volatile uint32_t *)record = 0x01000000;
	fence(true);
	for (int i = 0; i < WORDS - 1; i++)
		payload[i] = 100 + i;
	fence(FENCED);
	*(volatile uint64_t *)doorbell = wqe[0];
	if (AFTER == WAITS)
		wait_for(cqe, cuda::std::memory_order_acquire);
	if (AFTER == WAITS_RELAXED)
		wait_for(cqe, cuda::std::memory_order_relaxed);
	if (AFTER != NOTHING)
		payload[0] = 0;
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

#define SEND(name, ...)                                                                                                        \
	extern "C" __global__ void name(uint64_t *payload, uint64_t *slot, uint64_t *wqe, uint32_t *record, uint64_t *bell,    \
					uint32_t *cqe)                                                                         \
	{                                                                                                                      \
		send<__VA_ARGS__>(payload, slot, wqe, record, bell, cqe);                                                      \
	}

SEND(send_fenced, true, true, NOTHING)
SEND(send_unfenced, true, false, NOTHING)
SEND(send_record_unfenced, false, true, NOTHING)
SEND(send_reuses, true, true, REUSES)
SEND(send_waits_relaxed, true, true, WAITS_RELAXED)
SEND(send_waits, true, true, WAITS)

// A host sends the payload when it has seen each of its words.
extern "C" __global__ void fill_strong(volatile uint64_t *payload)
{
	for (int i = 0; i < WORDS; i++)
		payload[i] = i < WORDS - 1 ? 100 + i : 1;
}

extern "C" __global__ void fill_weak(uint64_t *payload)
{
	for (int i = 0; i < WORDS; i++)
		payload[i] = i < WORDS - 1 ? 100 + i : 1;
}

extern "C" __global__ void receive_acquire(uint64_t *inbox, uint64_t *sum)
{
	receive<cuda::std::memory_order_acquire>(inbox, sum);
}

extern "C" __global__ void receive_relaxed(uint64_t *inbox, uint64_t *sum)
{
	receive<cuda::std::memory_order_relaxed>(inbox, sum);
}

// Between GPUs, kernels and hosts: data and a flag, both in memory of either.
template <bool FENCED>
static __device__ void give(uint64_t *data, uint32_t *flag)
{
	for (int i = 0; i < WORDS - 1; i++)
		data[i] = 100 + i;
	fence(FENCED);
	*(volatile uint32_t *)flag = 1;
}

template <cuda::std::memory_order ORDER>
static __device__ void take(const uint64_t *data, uint32_t *flag, uint64_t *sum)
{
	cuda::atomic_ref<uint32_t, cuda::thread_scope_system> word(*flag);
	while (word.load(ORDER) == 0)
		;
	uint64_t all = 0;
	for (int i = 0; i < WORDS - 1; i++)
		all += data[i];
	*sum = all;
}

extern "C" __global__ void give_fenced(uint64_t *data, uint32_t *flag)
{
	give<true>(data, flag);
}

extern "C" __global__ void give_unfenced(uint64_t *data, uint32_t *flag)
{
	give<false>(data, flag);
}

extern "C" __global__ void take_acquire(uint64_t *data, uint32_t *flag, uint64_t *sum)
{
	take<cuda::std::memory_order_acquire>(data, flag, sum);
}

extern "C" __global__ void take_relaxed(uint64_t *data, uint32_t *flag, uint64_t *sum)
{
	take<cuda::std::memory_order_relaxed>(data, flag, sum);
}

// Without a flag: the streams of both order them, or nothing does.
extern "C" __global__ void add(uint64_t *data)
{
	for (int i = 0; i < WORDS - 1; i++)
		data[i] += 1;
}
