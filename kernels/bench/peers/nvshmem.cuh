// NVSHMEM's transport IBGDA (github.com/NVIDIA/nvshmem, Python package nvidia-nvshmem-cu13) as a peer of the bench: its
// put of a thread, which lanes of a warp coalesce, and its quiet. Add -I<nvshmem>/include, and rdma-core's headers, which
// NVSHMEM includes. Written for 3.4.5; no NVSHMEM library is linked, and nothing is initialized by it.
//
// The state that NVSHMEM's host code would fill is filled here: two PEs, of which this one is the second, a symmetric heap
// over all addresses, a connection of PE 0 for each queue pair, by warps. EXCLUSIVE queue pairs stand where it has
// those of dynamic connections that one block has alone, which have weaker fences; their type stays reliable.
// DOORBELL_PEER_HOST_HEAP says that the heap is in host memory, for which its puts have one fence more.
#ifndef DOORBELL_BENCH_PEERS_NVSHMEM_CUH
#define DOORBELL_BENCH_PEERS_NVSHMEM_CUH

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_host_transport/nvshmem_common_ibgda.h"
static __constant__ nvshmemi_ibgda_device_state_t nvshmemi_ibgda_device_state_d;
#include "device/nvshmem_device_macros.h"
#include "non_abi/device/pt-to-pt/ibgda_device.cuh"

#include "doorbell/abi.h"

namespace peer {

#ifdef DOORBELL_PEER_HOST_HEAP
constexpr const char *kName = "NVSHMEM, heap in host memory";
#else
constexpr const char *kName = "NVSHMEM";
#endif
constexpr uint32_t kFlags = DOORBELL_QP_CQ_COLLAPSED;

// NVSHMEM finds queue pairs by its state.
struct queue {
  uint32_t number;
};

namespace detail {

constexpr uint32_t kMost = 32;
constexpr uint32_t kSelf = 1;  // the target is PE 0, whose connections come first

struct tables {
  nvshmemi_ibgda_device_qp_t qps[2 * kMost];
  nvshmemi_ibgda_device_cq_t cqs[kMost];
  void *bases[2];
  uint8_t switches[kMost];
};

inline void check(cudaError_t error) {
  if (error != cudaSuccess) {
    fprintf(stderr, "NVSHMEM's state: %s\n", cudaGetErrorString(error));
    exit(1);
  }
}

// GPU memory of the tables, and what is in it.
struct held {
  tables *device = nullptr;
  tables host;

  held() {
    memset(static_cast<void *>(&host), 0, sizeof host);
    check(cudaMalloc(&device, sizeof host));
  }
};

}  // namespace detail

// Called for each queue pair of a run, in the order of their numbers.
inline queue describe(const doorbell_qp &from, bool gpu_rings) {
  static detail::held all;
  const uint32_t i = from.number;
  nvshmemi_ibgda_device_qp_t &qp = all.host.qps[i];
  nvshmemi_ibgda_device_qp_t *there = &all.device->qps[i];
  memset(static_cast<void *>(&qp), 0, sizeof qp);
  qp.version = (1 << 16) + sizeof qp;
  qp.qp_type = NVSHMEMI_IBGDA_DEVICE_QP_TYPE_RC;
  qp.qpn = from.qpn;
  qp.tx_wq.nwqes = static_cast<uint16_t>(from.sq_blocks);
  qp.tx_wq.wqe = reinterpret_cast<void *>(from.sq_ring);
  qp.tx_wq.dbrec = reinterpret_cast<__be32 *>(from.sq_record);
  qp.tx_wq.bf = reinterpret_cast<void *>(from.doorbell);
  qp.tx_wq.cq = &all.device->cqs[i];
  qp.tx_wq.prod_idx = &there->mvars.tx_wq.prod_idx;
  nvshmemi_ibgda_device_cq_t &cq = all.host.cqs[i];
  memset(static_cast<void *>(&cq), 0, sizeof cq);
  cq.version = (1 << 16) + sizeof cq;
  cq.qp_type = qp.qp_type;
  cq.dbrec = reinterpret_cast<__be32 *>(from.cq_record);
  cq.cqe = reinterpret_cast<void *>(from.cq_ring);
  cq.prod_idx = &there->mvars.tx_wq.prod_idx;
  cq.cons_idx = &there->mvars.tx_wq.cons_idx;
  cq.resv_head = &there->mvars.tx_wq.resv_head;
  cq.ready_head = &there->mvars.tx_wq.ready_head;
  cq.ncqes = from.cq_entries;
  cq.qpn = from.qpn;
  detail::check(cudaMemcpy(all.device, &all.host, sizeof all.host, cudaMemcpyHostToDevice));

  nvshmemi_ibgda_device_state_t state;
  memset(static_cast<void *>(&state), 0, sizeof state);
  const bool alone = (from.flags & DOORBELL_QP_EXCLUSIVE) != 0;
  state.version = (1 << 16) + sizeof state;
  state.num_exclusive_dcis = alone ? i + 1 : 0;
  state.dci_map_type = NVSHMEMI_IBGDA_DEVICE_QP_MAP_TYPE_CTA;
  state.ndcts_per_pe = 1;
  state.num_qp_groups = i + 1 > 2 ? i + 1 : 2;
  state.num_dct_groups = 1;
  state.num_rc_per_pe = alone ? 0 : i + 1;
  state.rc_map_type = NVSHMEMI_IBGDA_DEVICE_QP_MAP_TYPE_WARP;
  state.num_requests_in_batch = 32;  // its default
  state.log2_cumem_granularity = 63;
  state.num_devices_initialized = 1;
  state.nic_buf_on_gpumem = gpu_rings;
  state.support_half_av_seg = true;
  state.may_skip_cst = true;
  for (int chunk = 0; chunk < 4; ++chunk) {
    state.constmem.lkeys[chunk] = {bench::kLocalKey, UINT64_MAX};
    state.constmem.rkeys[chunk] = {bench::kRemoteKey, UINT64_MAX};
  }
  state.globalmem.qp_group_switches = all.device->switches;
  state.globalmem.cqs = all.device->cqs;
  state.globalmem.dcis = all.device->qps;
  state.globalmem.rcs = all.device->qps;
  detail::check(cudaMemcpyToSymbol(nvshmemi_ibgda_device_state_d, &state, sizeof state));

  static nvshmemi_device_host_state_t machine;
  memset(static_cast<void *>(&machine), 0, sizeof machine);
  machine.mype = detail::kSelf;
  machine.npes = 2;
  machine.node_mype = 0;
  machine.node_npes = 1;
  machine.heap_size = SIZE_MAX;
  machine.peer_heap_base_remote = all.device->bases;  // zeros: an address is the same in either heap
#ifdef DOORBELL_PEER_HOST_HEAP
  machine.symmetric_heap_kind = true;
#endif
  detail::check(cudaMemcpyToSymbol(nvshmemi_device_state_d, &machine, sizeof machine));
  return {i};
}

template <bool kExclusive>
__device__ __forceinline__ uint64_t put(queue *, uint64_t remote, uint32_t, uint64_t local, uint32_t,
                                        uint32_t bytes) {
#ifdef __CUDA_ARCH__
  nvshmemi_ibgda_rma_nbi<NVSHMEMI_THREADGROUP_THREAD, NVSHMEMI_OP_PUT>(
      reinterpret_cast<void *>(remote), reinterpret_cast<void *>(local), bytes, 1 - detail::kSelf);
#endif
  return 0;
}

// Lanes that put together are one reservation of as many WQEs.
template <bool kExclusive>
__device__ __forceinline__ uint64_t put_warp(queue *to, uint64_t remote, uint32_t remote_key, uint64_t local,
                                             uint32_t local_key, uint32_t bytes) {
  return put<kExclusive>(to, remote, remote_key, local, local_key, bytes);
}

template <bool kExclusive>
__device__ __forceinline__ void wait(queue *, uint64_t) {
#ifdef __CUDA_ARCH__
  nvshmemi_ibgda_quiet<NVSHMEMI_THREADGROUP_THREAD>();
#endif
}

}  // namespace peer

#endif  // DOORBELL_BENCH_PEERS_NVSHMEM_CUH
