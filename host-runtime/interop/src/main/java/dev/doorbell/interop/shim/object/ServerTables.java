package dev.doorbell.interop.shim.object;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** State that all contexts of a server share: event streams, and the numbers that it assigns. */
public final class ServerTables {
  private static final int MAX_UAR_PAGES = 1 << 12;

  private final Map<Long, EventStream> events = new HashMap<>();
  private final BitSet uarPages = new BitSet();
  public final boolean emulatedGpus;
  private long tokens;

  private int domains;
  private int umems;

  public ServerTables(boolean emulatedGpus) {
    this.emulatedGpus = emulatedGpus;
    uarPages.set(0);
  }

  /**
   * Opens a stream.
   *
   * @param pid of the only process that may connect to it
   */
  public EventStream openEvents(int pid, int recordBytes) {
    tokens++;
    EventStream stream = new EventStream(pid, tokens, recordBytes);
    events.put(tokens, stream);
    return stream;
  }

  /** The stream of that process with that token, or null. */
  public @Nullable EventStream events(int pid, long token) {
    EventStream stream = events.get(token);
    return stream != null && stream.isOf(pid) ? stream : null;
  }

  /** The program has closed the file descriptor. */
  public void close(EventStream stream) {
    stream.close();
    events.remove(stream.token());
  }

  /** Adds events again that a program's library took along with others. */
  public void requeue(int pid, long token, byte[] records) {
    EventStream stream = events(pid, token);
    if (stream == null) {
      return;
    }
    int bytes = stream.recordBytes();
    for (int at = 0; at + bytes <= records.length; at += bytes) {
      stream.add(Arrays.copyOfRange(records, at, at + bytes));
    }
  }

  /** Takes the number of a doorbell page; -1 when all are in use. */
  public int takeUarPage() {
    int page = uarPages.nextClearBit(1);
    if (page >= MAX_UAR_PAGES) {
      return -1;
    }
    uarPages.set(page);
    return page;
  }

  public void freeUarPage(int page) {
    uarPages.clear(page);
  }

  public int nextDomain() {
    return ++domains;
  }

  public int nextUmem() {
    return ++umems;
  }
}
