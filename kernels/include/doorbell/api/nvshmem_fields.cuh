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

// What barriers and collectives of the library read beside that: scenario.foreign.NvshmemTeams. Constants of the headers
// are in the table as sizes of fields, each larger by one.
#define DOORBELL_NVSHMEM_VALUES                              \
  struct doorbell_nvshmem_values {                           \
    char by_memory[1 + NVSHMEMI_JOB_GPU_LDST_ATOMICS];       \
    char by_transport[1 + NVSHMEMI_JOB_GPU_PROXY];           \
    char world[1 + NVSHMEM_TEAM_WORLD_INDEX];                \
    char shared[1 + NVSHMEM_TEAM_SHARED_INDEX];              \
    char node[1 + NVSHMEM_TEAM_NODE_INDEX];                  \
    char same_mype_node[1 + NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX]; \
    char same_gpu[1 + NVSHMEM_TEAM_SAME_GPU_INDEX];          \
    char gpu_leaders[1 + NVSHMEM_TEAM_GPU_LEADERS_INDEX];    \
    char teams[1 + NVSHMEM_TEAMS_MIN];                       \
    char sync[1 + NVSHMEMI_SYNC_SIZE];                       \
    char broadcast[1 + NVSHMEMI_BCAST_SYNC_SIZE];            \
    char all_to_all[1 + NVSHMEMI_ALLTOALL_SYNC_SIZE];        \
  };

#define DOORBELL_NVSHMEM_TEAM_STRUCTURES(X) \
  X(nvshmemi_team_t)                        \
  X(doorbell_nvshmem_values)

#define DOORBELL_NVSHMEM_TEAM_FIELDS(X)                                                        \
  X(nvshmemi_device_host_state_t, host_node_mype, node_mype)                                   \
  X(nvshmemi_device_host_state_t, host_connectivity, job_connectivity)                         \
  X(nvshmemi_device_host_state_t, host_rail, enable_rail_opt)                                  \
  X(nvshmemi_device_host_state_t, host_kind, symmetric_heap_kind)                              \
  X(nvshmemi_device_host_state_t, host_any, test_wait_any_start_idx_ptr)                       \
  X(nvshmemi_device_host_state_t, host_teams, team_pool)                                       \
  X(nvshmemi_device_host_state_t, host_areas, psync_pool)                                      \
  X(nvshmemi_device_host_state_t, host_counters, sync_counter)                                 \
  X(nvshmemi_device_host_state_t, env_barrier, gpu_coll_env_params_var.barrier_dissem_kval)    \
  X(nvshmemi_device_host_state_t, env_barrier_tg, gpu_coll_env_params_var.barrier_tg_dissem_kval) \
  X(nvshmemi_device_host_state_t, env_reduce, gpu_coll_env_params_var.reduce_recexch_kval)     \
  X(nvshmemi_device_host_state_t, env_tree, gpu_coll_env_params_var.bcast_tree_kval)           \
  X(nvshmemi_device_host_state_t, env_bcast_algo, gpu_coll_env_params_var.bcast_algo)          \
  X(nvshmemi_device_host_state_t, env_reduce_algo, gpu_coll_env_params_var.reduce_algo)        \
  X(nvshmemi_device_host_state_t, env_fcollect_algo, gpu_coll_env_params_var.fcollect_algo)    \
  X(nvshmemi_device_host_state_t, env_scatter_algo, gpu_coll_env_params_var.reducescatter_algo) \
  X(nvshmemi_device_host_state_t, env_ll, gpu_coll_env_params_var.fcollect_ll_threshold)       \
  X(nvshmemi_device_host_state_t, env_ll128, gpu_coll_env_params_var.fcollect_ll128_threshold) \
  X(nvshmemi_device_host_state_t, env_scratch, gpu_coll_env_params_var.reduce_scratch_size)    \
  X(nvshmemi_device_host_state_t, env_nvls, gpu_coll_env_params_var.reduce_nvls_threshold)     \
  X(nvshmemi_ibgda_device_state_t, state_shared_dcis, num_shared_dcis)                         \
  X(nvshmemi_ibgda_device_state_t, state_exclusive_dcis, num_exclusive_dcis)                   \
  X(nvshmemi_ibgda_device_state_t, state_dci_map, dci_map_type)                                \
  X(nvshmemi_ibgda_device_state_t, state_groups, num_qp_groups)                                \
  X(nvshmemi_ibgda_device_state_t, state_dcis, globalmem.dcis)                                 \
  X(nvshmemi_team_t, team_my_pe, my_pe)                                                        \
  X(nvshmemi_team_t, team_start, start)                                                        \
  X(nvshmemi_team_t, team_stride, stride)                                                      \
  X(nvshmemi_team_t, team_size, size)                                                          \
  X(nvshmemi_team_t, team_index, team_idx)                                                     \
  X(nvshmemi_team_t, team_to, reduce_recexch.step1_sendto)                                     \
  X(nvshmemi_team_t, team_from, reduce_recexch.step1_recvfrom)                                 \
  X(nvshmemi_team_t, team_neighbours, reduce_recexch.step2_nbrs)                               \
  X(nvshmemi_team_t, team_receives, reduce_recexch.step1_nrecvs)                               \
  X(nvshmemi_team_t, team_phases, reduce_recexch.step2_nphases)                                \
  X(nvshmemi_team_t, team_reductions, rdxn_count)                                              \
  X(nvshmemi_team_t, team_flag, ll_flag)                                                       \
  X(nvshmemi_team_t, team_words, alltoall_pwrk)                                                \
  X(nvshmemi_team_t, team_alltoalls, alltoall_count)                                           \
  X(nvshmemi_team_t, team_broadcasts, bcast_count)                                             \
  X(nvshmemi_team_t, team_broadcast_offset, bcast_sync_offset)                                 \
  X(nvshmemi_team_t, team_collects, fcollect_count)                                            \
  X(nvshmemi_team_t, team_p2p, are_gpus_p2p_connected)                                         \
  X(nvshmemi_team_t, team_is_node, is_team_node)                                               \
  X(nvshmemi_team_t, team_node_, team_node)                                                    \
  X(nvshmemi_team_t, team_is_same, is_team_same_mype_node)                                     \
  X(nvshmemi_team_t, team_same, team_same_mype_node)                                           \
  X(nvshmemi_team_t, team_multicast, nvls_rsc_base_ptr)                                        \
  X(nvshmemi_team_t, team_mapping, pe_mapping)                                                 \
  X(doorbell_nvshmem_values, value_by_memory, by_memory)                                       \
  X(doorbell_nvshmem_values, value_by_transport, by_transport)                                 \
  X(doorbell_nvshmem_values, value_world, world)                                               \
  X(doorbell_nvshmem_values, value_shared, shared)                                             \
  X(doorbell_nvshmem_values, value_node, node)                                                 \
  X(doorbell_nvshmem_values, value_same_mype_node, same_mype_node)                             \
  X(doorbell_nvshmem_values, value_same_gpu, same_gpu)                                         \
  X(doorbell_nvshmem_values, value_gpu_leaders, gpu_leaders)                                   \
  X(doorbell_nvshmem_values, value_teams, teams)                                               \
  X(doorbell_nvshmem_values, value_sync, sync)                                                 \
  X(doorbell_nvshmem_values, value_broadcast, broadcast)                                       \
  X(doorbell_nvshmem_values, value_all_to_all, all_to_all)
