package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.HcaFaults.FaultTarget;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire.Route;
import org.jspecify.annotations.Nullable;

/** The constants, the connection and the state of a queue pair, as its two halves see them. */
public abstract class QueuePairContext extends PendingList.Node implements FaultTarget {
  /** {@link #userIndex}: its CQEs name it by its number alone. */
  public static final int UNNAMED = -1;

  public final int number;

  /** Its user's name of it, which its CQEs have ({@code cqe_version} 1 of mlx5). */
  public int userIndex = UNNAMED;

  public final Transport transport;

  /** Domain of its keys. */
  public final ObjectOwner domain;

  /** The keys of the HCA. */
  public final RegionTable regions;

  public final Completions sendCompletions;
  public final @Nullable Completions receiveCompletions;

  /** The two halves in the fabric's order of events. */
  public final DeviceUnit requests;

  public final DeviceUnit responses;

  private final int ordinal;
  protected QueuePairState state = QueuePairState.RESET;
  protected ConnectionAttributes connection = ConnectionAttributes.DEFAULT;
  protected int rights;
  protected int peerNumber;
  protected int mtu;
  protected int maxReadAtomic = 1;
  protected int partitionKey = Packet.DEFAULT_PARTITION;
  protected @Nullable Route route;

  protected QueuePairContext(
      DevicePort port,
      int number,
      int ordinal,
      Transport transport,
      ObjectOwner domain,
      RegionTable regions,
      Completions sendCompletions,
      @Nullable Completions receiveCompletions) {
    this.number = number;
    this.ordinal = ordinal;
    this.transport = transport;
    this.domain = domain;
    this.regions = regions;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
    this.requests = port.unit(number, true);
    this.responses = port.unit(number, false);
  }

  @Override
  public final int ordinal() {
    return ordinal;
  }

  public final QueuePairState state() {
    return state;
  }

  public final ConnectionAttributes connection() {
    return connection;
  }

  public final int rights() {
    return rights;
  }

  public final int peerNumber() {
    return peerNumber;
  }

  /** Path MTU in bytes. */
  public final int mtu() {
    return mtu;
  }

  /** READs and atomics that may be outstanding. */
  public final int maxReadAtomic() {
    return maxReadAtomic;
  }

  public final int partitionKey() {
    return partitionKey;
  }

  /** The route to the peer; null without a connection. */
  public final @Nullable Route route() {
    return route;
  }

  /** True where requests are acknowledged: RC and DC. */
  public final boolean isReliable() {
    return transport == Transport.RC || isDynamic();
  }

  /** True where connections come and go with the requests. */
  public final boolean isDynamic() {
    return transport == Transport.DC;
  }

  /** Requests go to another peer from now on. */
  public final void reach(@Nullable Route there, int number) {
    route = there;
    peerNumber = number;
  }

  /** Requests go between these GIDs of both ends. */
  public final void between(Gid source, Gid destination) {
    route = route == null ? null : route.between(source, destination);
  }

  /** 15 bits agree, and one of the two is a full member (InfiniBand, chapter 10.9.3). */
  protected final boolean acceptsPartition(int key) {
    return ((key ^ partitionKey) & 0x7fff) == 0 && ((key | partitionKey) & 0x8000) != 0;
  }

  public final boolean isDatagram() {
    return transport == Transport.UD;
  }

  /** There may be something to do: the queue pair runs in this step or the next. */
  public abstract void activate();

  /** Acts as {@link #activate}, from between two steps. */
  public abstract void activateFromOutside();

  /** {@code Responder.acknowledge} is called at the end of this step. */
  public abstract void acknowledgeLater();

  /** Goes to ERR: what is outstanding is flushed. */
  public abstract void enterError();

  /** Goes to ERR as if the driver had asked for it; not after a reset or close. */
  public abstract void failFromOutside();

  /**
   * The peer's receiving half, when packets to it would be nothing but their effect: no time, no
   * trace, no fault on either side. Null otherwise.
   */
  public @Nullable DirectPeer directPeer() {
    return null;
  }

  /** A doorbell with a producer index, or {@link Uar#NO_INDEX}. On any thread. */
  public void ring(int index) {}

  /** A whole WQE from a BlueFlame register, of {@code bytes} at {@code source}. On any thread. */
  public void offerBlueFlame(long source, int bytes) {}

  @Override
  public boolean isFailing() {
    return false;
  }
}
