package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Cells;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import org.jspecify.annotations.Nullable;

/** A thread's load or atomic that crosses links: the request's arrival is the event. */
public final class RemoteAccess extends Event {
  /** The purpose of the access. */
  public interface Listener {
    /** The answer of {@code access} will be there at {@code when}, in picoseconds. */
    void answered(RemoteAccess access, long when);
  }

  private static final long NEVER = -1;

  public final AccessPath path;

  /** Its first byte. */
  public final long address;

  public final int bytes;

  private long low;
  private long high;

  /** Lower and upper 8 bytes of each member of a multicast object; of other memory none. */
  private final long[] members;

  /** Loads that travel with this one. */
  private @Nullable RemoteAccess companion;

  private long sent;
  private long notBefore;
  private long headStart;
  private long storesBefore;
  private long servedAt;
  private long answeredAt = NEVER;

  /** When everything posted before this has arrived, as of its departure. */
  private long behind;

  private final Interconnect interconnect;
  private final InstructionPrices prices;
  private final LoadCombiner loads;
  private final Listener listener;
  private final @Nullable Rmw operation;
  private final long operand;
  private final long compare;

  /**
   * A load, or an atomic where {@code operation} is not null; {@link #send} sends it.
   *
   * @param bytes 1 to 16 of a load, 4 or 8 of an atomic
   */
  public RemoteAccess(
      Interconnect interconnect,
      Processor processor,
      Listener listener,
      AccessPath path,
      long address,
      int bytes,
      @Nullable Rmw operation,
      long operand,
      long compare) {
    this.interconnect = interconnect;
    this.prices = processor.prices;
    this.loads = processor.loads;
    this.listener = listener;
    this.path = path;
    this.address = address;
    this.bytes = bytes;
    this.operation = operation;
    this.operand = operand;
    this.compare = compare;
    this.members = new long[2 * path.multiplicity()];
  }

  public boolean loads() {
    return operation == null;
  }

  /** Returns true if it is of any of these bytes. */
  boolean touches(long from, int length) {
    return from < address + bytes && address < from + length;
  }

  /** Memory serves it no earlier than at {@code when}, which is to be said before it is sent. */
  public void notBefore(long when) {
    notBefore = when;
  }

  /** It left so many picoseconds before it is sent, by a poller that slept meanwhile. */
  public void headStart(long picos) {
    headStart = picos;
  }

  /** Returns the number of stores of its thread to memory elsewhere that came before it. */
  public void behind(long stores) {
    storesBefore = stores;
  }

  /** Returns its thread's stores to memory elsewhere that came before it. */
  public long behind() {
    return storesBefore;
  }

  /** When memory serves it, once it was sent. */
  public long servedAt() {
    return servedAt;
  }

  /** Returns true if it is known when the answer is there. */
  public boolean answered() {
    return answeredAt != NEVER;
  }

  /** The lower 8 bytes of what memory held when the request arrived. */
  public long low() {
    return low;
  }

  /** The upper 8 bytes of a 16-byte load. */
  public long high() {
    return high;
  }

  /** The same of each member of a multicast object, in turn. */
  public long[] members() {
    return members;
  }

  /** When the answer is there, once that is known. */
  public long answeredAt() {
    return answeredAt;
  }

  private void answer(long when) {
    answeredAt = when;
    listener.answered(this, when);
  }

  /** The aligned line in which its first byte lies. */
  long line(int granule) {
    return address & -granule;
  }

  /** The one in which its last byte lies. */
  long lastLine(int granule) {
    return (address + bytes - 1) & -granule;
  }

  /**
   * Takes another load of the same instant and line along. Not where something was posted in
   * between: the load might have to see it.
   */
  boolean takes(RemoteAccess other, long line, int granule, long time) {
    if (!scheduled()
        || sent != time
        || line(granule) != line
        || path.out() != other.path.out()
        || behind != path.out().lastPosted()
        || other.notBefore > servedAt) {
      return false;
    }
    other.servedAt = servedAt;
    other.companion = companion;
    companion = other;
    return true;
  }

  /** Sends the request at {@code time}, in picoseconds. */
  public void send(long time) {
    Route out = path.out();
    sent = time;
    behind = out.lastPosted();
    long arrival =
        members.length > 0
            ? path.way().request(time, interconnect.queue().clock())
            : operation == null
                ? out.request(time, 1, interconnect.queue().clock())
                : out.atomicRequest(time, bytes, interconnect.queue().clock());
    long early = Math.min(headStart, Math.max(0, arrival - Math.max(behind, time)));
    servedAt = Math.max(arrival - early + path.owner.service, notBefore);
    interconnect.queue().schedule(this, servedAt);
  }

  @Override
  protected void fire() {
    long from = address;
    long to = address + bytes;
    int sum = 0;
    for (RemoteAccess each = this; each != null; each = each.companion) {
      each.sample(time());
      from = Math.min(from, each.address);
      to = Math.max(to, each.address + each.bytes);
      sum += each.bytes;
    }
    // As many bytes as were asked for, those that several asked for but once.
    int payload = (int) Math.min(sum, to - from);
    long back =
        members.length > 0
            ? path.way().completion(time(), payload, time())
            : path.back().completions(time(), 1, payload, time());
    if (!loads()) {
      answer(back + prices.remoteAtomic());
      return;
    }
    back += prices.remoteLoad() + Math.round(loads.underWay() * prices.remoteContention());
    for (RemoteAccess each = this; each != null; each = each.companion) {
      loads.answered();
      each.answer(back + each.spread(payload));
    }
  }

  /**
   * Returns the time that it takes longer because a warp's loads of this width cover several lines.
   */
  private long spread(int payload) {
    if (payload <= GpuRefinements.SECTOR_BYTES || bytes <= Integer.BYTES) {
      return 0;
    }
    return Integer.numberOfTrailingZeros(bytes / Integer.BYTES) * prices.remoteSpread();
  }

  private void sample(long time) {
    if (members.length > 0) {
      for (int i = 0; i < members.length; i += 2) {
        long at = path.inMember(i / 2, address);
        members[i] = Cells.load(at, Math.min(bytes, Long.BYTES));
        members[i + 1] = bytes > Long.BYTES ? Cells.load(at + Long.BYTES, Long.BYTES) : 0;
      }
      return;
    }
    if (!path.uar && !interconnect.memory().accessibleRange(address, bytes)) {
      // Freed under way: no completion comes, which reads as ones.
      low = -1;
      high = -1;
      return;
    }
    if (bytes == 16) {
      low = Cells.load(address, Long.BYTES);
      high = Cells.load(address + Long.BYTES, Long.BYTES);
      return;
    }
    low = Cells.load(address, bytes);
    if (operation != null) {
      long changed = operation.apply(low, bytes, operand, compare);
      if (changed != low) {
        Cells.store(address, bytes, changed);
        interconnect.written(path.owner, address, bytes, time);
      }
    }
  }

  /**
   * The place at which the loads of one GPU from memory elsewhere become requests: those of one
   * instant from one line are one, as the lanes of a warp that load together are.
   */
  public static final class LoadCombiner {
    private static final int LINES = 4096;

    private final int granule;

    /** Loads that have been sent and not answered. */
    private int underWay;

    private final @Nullable RemoteAccess[] sent;

    /**
     * @param granule bytes of a line; 0: every load is a request of its own
     */
    LoadCombiner(int granule) {
      this.granule = granule;
      this.sent = new RemoteAccess[granule == 0 ? 0 : LINES];
    }

    /** Sends a load's request at {@code time}, or lets it travel with one that has just left. */
    public void send(RemoteAccess load, long time) {
      underWay++;
      if (granule == 0 || load.path.uar || load.line(granule) != load.lastLine(granule)) {
        load.send(time);
        return;
      }
      long line = load.line(granule);
      int slot = (int) (line / granule) & (LINES - 1);
      RemoteAccess leader = sent[slot];
      if (leader != null && leader.takes(load, line, granule, time)) {
        return;
      }
      load.send(time);
      sent[slot] = load;
    }

    int underWay() {
      return underWay;
    }

    void answered() {
      underWay--;
    }
  }
}
