package dev.doorbell.core.hca;

/** Rights of a memory region or a queue pair ({@code IBV_ACCESS_*}). */
public enum AccessRight {
  /** The HCA may write on behalf of this side: READ results, atomics' old values, receives. */
  LOCAL_WRITE,
  /** Peers may WRITE; requires {@link #LOCAL_WRITE}. */
  REMOTE_WRITE,
  /** Peers may READ. */
  REMOTE_READ,
  /** Peers may do atomics; requires {@link #LOCAL_WRITE}. */
  REMOTE_ATOMIC,
  /**
   * The program may bind memory windows to the region; software HCAs have none ({@code
   * IBV_ACCESS_MW_BIND}).
   */
  WINDOW_BIND,
  /** The HCA's writes may pass one another on PCIe: faster on some machines, never for flags. */
  RELAXED_ORDERING,
  /**
   * Peers' writes come behind all that was written before: the memory key for strict ordering of
   * adapters that place writes in any order, or relax them on PCIe. No effect on others.
   */
  STRICT_ORDERING
}
