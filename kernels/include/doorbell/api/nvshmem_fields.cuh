// The structures of NVSHMEM's IBGDA transport that scenario.foreign.NvshmemAdapter fills in, and the two variables by
// which device code finds them.
#pragma once

#ifdef __CUDA_ARCH__
__constant__ nvshmemi_device_host_state_t nvshmemi_device_state_d;
__constant__ nvshmemi_ibgda_device_state_t nvshmemi_ibgda_device_state_d;
#endif

#define DOORBELL_NVSHMEM_STRUCTURES(X)  \
  X(nvshmemi_device_host_state_t)   \
  X(nvshmemi_ibgda_device_state_t)  \
  X(nvshmemi_ibgda_device_qp_t)     \
  X(nvshmemi_ibgda_device_cq_t)     \
  X(nvshmemi_ibgda_device_key_t)    \
  X(nvshmemi_ibgda_device_local_only_mhandle_t)

#define DOORBELL_NVSHMEM_FIELDS(X)                                                       \
  X(nvshmemi_device_host_state_t, host_mype, mype)                                   \
  X(nvshmemi_device_host_state_t, host_npes, npes)                                   \
  X(nvshmemi_device_host_state_t, host_node_npes, node_npes)                         \
  X(nvshmemi_device_host_state_t, host_heap_base, heap_base)                         \
  X(nvshmemi_device_host_state_t, host_heap_size, heap_size)                         \
  X(nvshmemi_device_host_state_t, host_p2p, peer_heap_base_p2p)                      \
  X(nvshmemi_device_host_state_t, host_remote, peer_heap_base_remote)                \
  X(nvshmemi_device_host_state_t, host_ibgda, ibgda_is_initialized)                  \
  X(nvshmemi_ibgda_device_state_t, state_rcs, num_rc_per_pe)                         \
  X(nvshmemi_ibgda_device_state_t, state_default_rcs, num_default_rc_per_pe)         \
  X(nvshmemi_ibgda_device_state_t, state_batch, num_requests_in_batch)               \
  X(nvshmemi_ibgda_device_state_t, state_chunk, log2_cumem_granularity)              \
  X(nvshmemi_ibgda_device_state_t, state_devices, num_devices_initialized)           \
  X(nvshmemi_ibgda_device_state_t, state_on_gpu, nic_buf_on_gpumem)                  \
  X(nvshmemi_ibgda_device_state_t, state_half_av, support_half_av_seg)               \
  X(nvshmemi_ibgda_device_state_t, state_skip_cst, may_skip_cst)                     \
  X(nvshmemi_ibgda_device_state_t, state_lkeys, constmem.lkeys)                      \
  X(nvshmemi_ibgda_device_state_t, state_rkeys, constmem.rkeys)                      \
  X(nvshmemi_ibgda_device_state_t, state_switches, globalmem.qp_group_switches)      \
  X(nvshmemi_ibgda_device_state_t, state_cqs, globalmem.cqs)                         \
  X(nvshmemi_ibgda_device_state_t, state_rc_array, globalmem.rcs)                    \
  X(nvshmemi_ibgda_device_state_t, state_local_only, globalmem.local_only_mhandle_head) \
  X(nvshmemi_ibgda_device_qp_t, qp_type_, qp_type)                                   \
  X(nvshmemi_ibgda_device_qp_t, qp_number, qpn)                                      \
  X(nvshmemi_ibgda_device_qp_t, qp_device, dev_idx)                                  \
  X(nvshmemi_ibgda_device_qp_t, qp_slots, ibuf.nslots)                               \
  X(nvshmemi_ibgda_device_qp_t, qp_buffer, ibuf.buf)                                 \
  X(nvshmemi_ibgda_device_qp_t, qp_lkey, ibuf.lkey)                                  \
  X(nvshmemi_ibgda_device_qp_t, qp_rkey, ibuf.rkey)                                  \
  X(nvshmemi_ibgda_device_qp_t, qp_blocks, tx_wq.nwqes)                              \
  X(nvshmemi_ibgda_device_qp_t, qp_ring, tx_wq.wqe)                                  \
  X(nvshmemi_ibgda_device_qp_t, qp_record, tx_wq.dbrec)                              \
  X(nvshmemi_ibgda_device_qp_t, qp_doorbell, tx_wq.bf)                               \
  X(nvshmemi_ibgda_device_qp_t, qp_cq, tx_wq.cq)                                     \
  X(nvshmemi_ibgda_device_qp_t, qp_rung, tx_wq.prod_idx)                             \
  X(nvshmemi_ibgda_device_qp_t, qp_lock, mvars.post_send_lock)                       \
  X(nvshmemi_ibgda_device_qp_t, qp_m_reserved, mvars.tx_wq.resv_head)                \
  X(nvshmemi_ibgda_device_qp_t, qp_m_ready, mvars.tx_wq.ready_head)                  \
  X(nvshmemi_ibgda_device_qp_t, qp_m_rung, mvars.tx_wq.prod_idx)                     \
  X(nvshmemi_ibgda_device_qp_t, qp_m_completed, mvars.tx_wq.cons_idx)                \
  X(nvshmemi_ibgda_device_cq_t, cq_type, qp_type)                                    \
  X(nvshmemi_ibgda_device_cq_t, cq_record, dbrec)                                    \
  X(nvshmemi_ibgda_device_cq_t, cq_ring, cqe)                                        \
  X(nvshmemi_ibgda_device_cq_t, cq_rung, prod_idx)                                   \
  X(nvshmemi_ibgda_device_cq_t, cq_completed, cons_idx)                              \
  X(nvshmemi_ibgda_device_cq_t, cq_reserved, resv_head)                              \
  X(nvshmemi_ibgda_device_cq_t, cq_ready, ready_head)                                \
  X(nvshmemi_ibgda_device_cq_t, cq_number, cqn)                                      \
  X(nvshmemi_ibgda_device_cq_t, cq_entries, ncqes)                                   \
  X(nvshmemi_ibgda_device_cq_t, cq_qpn, qpn)                                         \
  X(nvshmemi_ibgda_device_key_t, key_key, key)                                       \
  X(nvshmemi_ibgda_device_key_t, key_end, next_addr)                                 \
  X(nvshmemi_ibgda_device_local_only_mhandle_t, local_start, start)                  \
  X(nvshmemi_ibgda_device_local_only_mhandle_t, local_end, end)                      \
  X(nvshmemi_ibgda_device_local_only_mhandle_t, local_next, next)                    \
  X(nvshmemi_ibgda_device_local_only_mhandle_t, local_lkeys, lkeys)
