package dev.doorbell.interop.shim.client;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.uverbs.generated.ShimProtocol;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells programs whether the serving thread sleeps, so that those that ring a doorbell by
 * libibverbs wake it by their wake files: {@code struct shim_sleep} of protocol.h, in each
 * program's shared file.
 */
public final class ServerSleep {
  private final Map<Object, Lease> leases = new HashMap<>();
  private final Map<Object, Integer> files = new HashMap<>();
  private long[] pages = new long[0];

  /** A program reads the state from now on. */
  public void attach(ClientProcess process, LocalListener wakes) throws ErrnoException {
    int file = wakes.openWakeFile();
    ErrnoException.require(file >= 0, -file);
    files.put(process, file);
    attach(process, process.leaseDevice(UverbsAbi.SLEEP_OFFSET, AddressSpace.PAGE));
  }

  /** The file by which a program wakes the thread, or -1. */
  public int wakeFile(ClientProcess process) {
    return files.getOrDefault(process, -1);
  }

  void attach(Object program, Lease lease) {
    RawMemory.putInt(lease.address(), ShimProtocol.AWAKE);
    leases.put(program, lease);
    index();
  }

  /** A program has ended. */
  public void detach(ClientProcess process, LocalListener wakes) {
    Integer file = files.remove(process);
    if (file != null) {
      wakes.closeWakeFile(file);
    }
    Lease lease = leases.remove(process);
    if (lease != null) {
      lease.close();
    }
    index();
  }

  private void index() {
    List<Lease> all = new ArrayList<>(leases.values());
    pages = all.stream().mapToLong(Lease::address).toArray();
  }

  /**
   * The thread is about to sleep. It has to look at all doorbells once more: who rang one before
   * this does not wake it.
   */
  public void begin() {
    for (long page : pages) {
      RawMemory.putIntRelease(page, ShimProtocol.ASLEEP);
    }
    VarHandle.fullFence();
  }

  /**
   * It looks at doorbells again.
   *
   * @return true if a program has rung meanwhile and writes to its wake file, or has done so
   */
  public boolean end() {
    boolean rung = false;
    for (long page : pages) {
      rung |= RawMemory.getAndSetInt(page, ShimProtocol.AWAKE) == ShimProtocol.AWAKE;
    }
    return rung;
  }
}
