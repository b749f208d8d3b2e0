// NVIDIA's DOCA GPUNetIO (github.com/NVIDIA-DOCA/gpunetio) as a peer of the bench: its put of a thread and of
// a warp, its wait. Add -I<gpunetio>/include.
//
// DOORBELL_PEER_SYSTEM_FENCES gives its fences system scope where they have GPU scope, which rings in host
// memory need by the PTX memory model.
#ifndef DOORBELL_BENCH_PEERS_GPUNETIO_CUH
#define DOORBELL_BENCH_PEERS_GPUNETIO_CUH

#include <string.h>

#include "common/doca_gpunetio_verbs_def.h"
#ifdef DOORBELL_PEER_SYSTEM_FENCES
// Behind the functions that tell the two scopes apart: with the name replaced there, GPU scope would be both.
#include "device/doca_gpunetio_dev_verbs_common.cuh"
#define DOCA_GPUNETIO_VERBS_SYNC_SCOPE_GPU DOCA_GPUNETIO_VERBS_SYNC_SCOPE_SYS
#endif
#include "doca_gpunetio_device.h"

#include "doorbell/abi.h"

namespace peer {

#ifdef DOORBELL_PEER_SYSTEM_FENCES
constexpr const char *kName = "GPUNetIO, system fences";
#else
constexpr const char *kName = "GPUNetIO";
#endif

constexpr uint32_t kFlags = 0;

struct queue {
  doca_gpu_dev_verbs_qp qp;
};

inline queue describe(const doorbell_qp &from, bool gpu_rings) {
  queue out;
  memset(&out, 0, sizeof out);
  doca_gpu_dev_verbs_qp &qp = out.qp;
  const auto big = [](uint32_t value) { return __builtin_bswap32(value); };
  const uint32_t shifted = from.qpn << 8;
  qp.sq_num = from.qpn;
  qp.sq_num_shift8 = shifted;
  qp.sq_num_shift8_be = big(shifted);
  qp.sq_num_shift8_be_1ds = big(shifted | 1);
  qp.sq_num_shift8_be_2ds = big(shifted | 2);
  qp.sq_num_shift8_be_3ds = big(shifted | 3);
  qp.sq_num_shift8_be_4ds = big(shifted | 4);
  qp.sq_num_shift8_be_5ds = big(shifted | 5);
  qp.sq_wqe_num = static_cast<uint16_t>(from.sq_blocks);
  qp.sq_wqe_mask = static_cast<uint16_t>(from.sq_blocks - 1);
  qp.sq_wqe_daddr = reinterpret_cast<uint8_t *>(from.sq_ring);
  qp.sq_dbrec = reinterpret_cast<__be32 *>(from.sq_record);
  qp.sq_db = reinterpret_cast<uint64_t *>(from.doorbell);
  qp.cq_sq.cqe_daddr = reinterpret_cast<uint8_t *>(from.cq_ring);
  qp.cq_sq.cqe_num = from.cq_entries;
  qp.cq_sq.dbrec = reinterpret_cast<__be32 *>(from.cq_record);
  qp.cq_sq.cqe_mask = from.cq_entries - 1;
  qp.cq_sq.cqe_size = 64;
  qp.cq_sq.mem_type = gpu_rings ? DOCA_GPUNETIO_VERBS_MEM_TYPE_GPU : DOCA_GPUNETIO_VERBS_MEM_TYPE_HOST;
  qp.nic_handler = DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB;
  qp.mem_type = qp.cq_sq.mem_type;
  return out;
}

template <bool kExclusive>
constexpr doca_gpu_dev_verbs_resource_sharing_mode kMode =
    kExclusive ? DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE
               : DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU;

template <bool kExclusive>
__device__ __forceinline__ uint64_t put(queue *to, uint64_t remote, uint32_t remote_key, uint64_t local,
                                        uint32_t local_key, uint32_t bytes) {
  doca_gpu_dev_verbs_ticket_t ticket;
  doca_gpu_dev_verbs_put<kMode<kExclusive>, DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB>(
      &to->qp, {remote, remote_key}, {local, local_key}, bytes, &ticket);
  return ticket;
}

template <bool kExclusive>
__device__ __forceinline__ uint64_t put_warp(queue *to, uint64_t remote, uint32_t remote_key,
                                             uint64_t local, uint32_t local_key, uint32_t bytes) {
  doca_gpu_dev_verbs_ticket_t ticket;
  doca_gpu_dev_verbs_put<kMode<kExclusive>, DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB,
                         DOCA_GPUNETIO_VERBS_EXEC_SCOPE_WARP>(
      &to->qp, {remote, remote_key}, {local, local_key}, bytes, &ticket);
  return ticket;
}

template <bool kExclusive>
__device__ __forceinline__ void wait(queue *to, uint64_t ticket) {
  doca_gpu_dev_verbs_wait<kMode<kExclusive>, DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB>(&to->qp, ticket);
}

}  // namespace peer

#endif  // DOORBELL_BENCH_PEERS_GPUNETIO_CUH
