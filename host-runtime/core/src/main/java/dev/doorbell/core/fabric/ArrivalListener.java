package dev.doorbell.core.fabric;

/** Is notified of bytes that arrive in memory from another component. */
@FunctionalInterface
public interface ArrivalListener {
  /** Bytes have arrived at {@code address}, at {@code picos} on the fabric's clock. */
  void arrived(long address, long bytes, long picos);
}
