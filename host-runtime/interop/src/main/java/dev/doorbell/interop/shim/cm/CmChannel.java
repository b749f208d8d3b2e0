package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An open {@code rdma_cm} file of a program: its ids and their events. Nobody else can name them.
 *
 * <p>The program's descriptor can be read while events wait. The server writes a byte to it when
 * the first one comes; the preload library takes the byte when the last one has gone.
 */
public final class CmChannel {
  /** Events that may wait; who causes more gets ENOMEM. */
  static final int MAX_EVENTS = 1 << 16;

  private final int pid;
  private final Runnable onReadable;
  private final Map<Integer, CmId> ids = new HashMap<>();
  private final ArrayDeque<CmEvent> events = new ArrayDeque<>();
  private int drained;
  private boolean closed;

  /**
   * @param pid of the program
   * @param onReadable is called when an event comes where none waited
   */
  public CmChannel(int pid, Runnable onReadable) {
    this.pid = pid;
    this.onReadable = onReadable;
  }

  /** The program that has it open. */
  public int pid() {
    return pid;
  }

  /**
   * The id with that number.
   *
   * @throws ErrnoException ENOENT where this file has none
   */
  CmId find(int number) throws ErrnoException {
    return ErrnoException.present(ids.get(number), Errno.ENOENT);
  }

  List<CmId> ids() {
    return List.copyOf(ids.values());
  }

  void add(CmId id) {
    id.channel = this;
    ids.put(id.number, id);
  }

  void remove(CmId id) {
    ids.remove(id.number);
  }

  void requireRoom() throws ErrnoException {
    ErrnoException.require(events.size() < MAX_EVENTS, Errno.ENOMEM);
  }

  void post(CmEvent event) {
    if (closed) {
      return;
    }
    events.add(event);
    if (events.size() == 1) {
      onReadable.run();
    }
  }

  /** The next event, which stays; null where none waits. */
  @Nullable CmEvent peek() {
    return events.peek();
  }

  void removeFirst() {
    events.remove();
    if (events.isEmpty()) {
      drained++;
    }
  }

  List<CmEvent> removeEvents(CmId of) {
    List<CmEvent> removed = events.stream().filter(event -> event.owner() == of).toList();
    if (!removed.isEmpty()) {
      events.removeAll(removed);
      drained += events.isEmpty() ? 1 : 0;
    }
    return removed;
  }

  /** Removes a connection request that its program has not seen. False where it has. */
  boolean removeRequest(CmId child) {
    boolean removed =
        events.removeIf(event -> event.id() == child && event.type() == CmAbi.CONNECT_REQUEST);
    if (removed && events.isEmpty()) {
      drained++;
    }
    return removed;
  }

  void removeEvents(CmId.Multicast of) {
    if (events.removeIf(event -> event.multicast() == of) && events.isEmpty()) {
      drained++;
    }
  }

  /**
   * Returns how often the queue has become empty since the last call: as many bytes are to be
   * taken.
   */
  public int takeDrained() {
    int count = drained;
    drained = 0;
    return count;
  }

  void close() {
    closed = true;
    events.clear();
  }
}
