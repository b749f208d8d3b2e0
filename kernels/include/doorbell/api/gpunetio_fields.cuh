// The structures of GPUNetIO that scenario.foreign.GpunetioAdapter fills in; NCCL's GIN has a copy of the library.
#pragma once

#define DOORBELL_GPUNETIO_STRUCTURES(X) \
  X(doca_gpu_dev_verbs_qp)         \
  X(doca_gpu_dev_verbs_cq)

#define DOORBELL_GPUNETIO_FIELDS(X)                                        \
  X(doca_gpu_dev_verbs_qp, qp_reserved, sq_rsvd_index)                \
  X(doca_gpu_dev_verbs_qp, qp_ready, sq_ready_index)                  \
  X(doca_gpu_dev_verbs_qp, qp_rung, sq_wqe_pi)                        \
  X(doca_gpu_dev_verbs_qp, qp_number, sq_num)                         \
  X(doca_gpu_dev_verbs_qp, qp_shifted, sq_num_shift8)                 \
  X(doca_gpu_dev_verbs_qp, qp_shifted_be, sq_num_shift8_be)           \
  X(doca_gpu_dev_verbs_qp, qp_shifted_be_1, sq_num_shift8_be_1ds)     \
  X(doca_gpu_dev_verbs_qp, qp_shifted_be_2, sq_num_shift8_be_2ds)     \
  X(doca_gpu_dev_verbs_qp, qp_shifted_be_3, sq_num_shift8_be_3ds)     \
  X(doca_gpu_dev_verbs_qp, qp_shifted_be_4, sq_num_shift8_be_4ds)     \
  X(doca_gpu_dev_verbs_qp, qp_shifted_be_5, sq_num_shift8_be_5ds)     \
  X(doca_gpu_dev_verbs_qp, qp_lock, sq_lock)                          \
  X(doca_gpu_dev_verbs_qp, qp_blocks, sq_wqe_num)                     \
  X(doca_gpu_dev_verbs_qp, qp_mask, sq_wqe_mask)                      \
  X(doca_gpu_dev_verbs_qp, qp_ring, sq_wqe_daddr)                     \
  X(doca_gpu_dev_verbs_qp, qp_record, sq_dbrec)                       \
  X(doca_gpu_dev_verbs_qp, qp_doorbell, sq_db)                        \
  X(doca_gpu_dev_verbs_qp, qp_completions, cq_sq)                     \
  X(doca_gpu_dev_verbs_qp, qp_handler, nic_handler)                   \
  X(doca_gpu_dev_verbs_qp, qp_memory, mem_type)                       \
  X(doca_gpu_dev_verbs_cq, cq_ring, cqe_daddr)                        \
  X(doca_gpu_dev_verbs_cq, cq_number, cq_num)                         \
  X(doca_gpu_dev_verbs_cq, cq_entries, cqe_num)                       \
  X(doca_gpu_dev_verbs_cq, cq_record, dbrec)                          \
  X(doca_gpu_dev_verbs_cq, cq_consumer, cqe_ci)                       \
  X(doca_gpu_dev_verbs_cq, cq_mask, cqe_mask)                         \
  X(doca_gpu_dev_verbs_cq, cq_size, cqe_size)                         \
  X(doca_gpu_dev_verbs_cq, cq_before, cqe_rsvd)                       \
  X(doca_gpu_dev_verbs_cq, cq_memory, mem_type)
