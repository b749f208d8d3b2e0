package dev.doorbell.experiments.remote;

import java.util.function.BooleanSupplier;

/** Devices that programs open. */
public interface ProgramDevices extends AutoCloseable {
  /** Serves until {@code stop}, on the calling thread. */
  void run(BooleanSupplier stop);

  /** How many devices and event descriptors programs have open. From any thread. */
  int connections();

  /** Ends what programs still have open. Call it when {@link #run} has returned. */
  @Override
  void close();
}
