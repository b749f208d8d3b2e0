package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.interop.control.HostPort;

/**
 * An all-to-all among ranks in one or more processes.
 *
 * @param at the rendezvous; its port may be 0 where one process has all ranks
 * @param process this one
 * @param processes of the job
 * @param ranks of the job, dealt out evenly in order
 * @param messages least number of messages of the job; whole rounds are sent
 * @param seed of sizes, kinds and contents
 * @param faults that happen to packets, by rank
 * @param timeoutNanos for everything, and for each wait for others
 */
public record AllToAllOptions(
    HostPort at,
    int process,
    int processes,
    int ranks,
    long messages,
    long seed,
    FaultPlan faults,
    long timeoutNanos) {

  /** The first rank of a process. */
  public int firstRank(int ofProcess) {
    return (int) ((long) ranks * ofProcess / processes);
  }

  /** The ranks of this process. */
  public int ownRanks() {
    return firstRank(process + 1) - firstRank(process);
  }
}
