package dev.doorbell.core.hca;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promises;
import org.jspecify.annotations.Nullable;

/**
 * A host channel adapter, opened.
 *
 * <p>The control path is here: objects are made, connected and closed by the host, and every
 * refusal is an {@link HcaException} that says what is wrong and how to fix it. The data path is
 * not: kernels and proxies post into the queues' memory and ring doorbells.
 */
public interface Hca extends AutoCloseable {
  /** Its name: {@code soft0}, {@code mlx5_0}. */
  String name();

  /** Returns its model and limits. */
  HcaAttributes attributes();

  /** Returns its promises: InfiniBand's order, unless it is known to promise something else. */
  default Promises promises() {
    return Adapter.DEFAULT.promises();
  }

  ProtectionDomain allocateProtectionDomain();

  /**
   * Creates a channel for events of completion queues.
   *
   * @throws HcaException where the HCA has none
   */
  default CompletionChannel createCompletionChannel() {
    throw new HcaException(
        "%s has no completion channels; poll, or use the software HCA".formatted(name()),
        Errno.EOPNOTSUPP);
  }

  /**
   * The oldest asynchronous event that was not taken yet, or null.
   *
   * @see AsyncEvent
   * @throws HcaException where the HCA reports none
   */
  default @Nullable AsyncEvent pollAsyncEvent() {
    throw new HcaException(
        "%s reports no asynchronous events; use the software HCA".formatted(name()),
        Errno.EOPNOTSUPP);
  }

  /** Closes what is still open, in reverse order of creation. */
  @Override
  void close();
}
