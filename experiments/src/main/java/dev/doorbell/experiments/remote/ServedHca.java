package dev.doorbell.experiments.remote;

import java.util.function.BooleanSupplier;

/** An HCA that other processes use. */
public interface ServedHca extends AutoCloseable {
  /** Where its packets go: GID and UDP port, as peers name it. */
  String address();

  /** Where it is asked. */
  Endpoint control();

  /** Serves until {@code stop}. Call it on the thread that made it. */
  void run(BooleanSupplier stop);

  /** Ends every client's queue pairs and regions, and the capture. */
  @Override
  void close();
}
