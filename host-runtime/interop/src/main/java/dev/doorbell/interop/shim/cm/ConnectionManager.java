package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.cm.CmId.State;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a server's programs: ids that bind, listen, meet and part. Each method is a
 * command of one program; what the peer's program gets of it is an event.
 */
public final class ConnectionManager {
  /** Ids of one program. */
  static final int MAX_IDS = 1 << 14;

  /** Groups that an id may join. */
  static final int MAX_MULTICASTS = 1 << 10;

  /** Requests that a listener's program may leave unread; more wait for it, as with a kernel. */
  static final int MAX_BACKLOG = 1024;

  /**
   * Time that an end waits for an answer of its peer: 16 times 4.3 s, as Linux repeats messages.
   */
  static final long ANSWER_NANOS = 16L * (4096L << 20);

  private static final byte[] NOTHING = new byte[0];

  private final List<Device> devices;
  private final LongSupplier clock;
  private final RandomGenerator random;
  private final PortTable ports;
  private final Map<Integer, BitSet> numbers = new HashMap<>();

  /** Ends that wait for their peer. */
  private final Set<CmId> waiting = new LinkedHashSet<>();

  private long nextDeadline = Long.MAX_VALUE;

  /** Memberships so far. */
  private int multicasts;

  /**
   * @param clock nanoseconds, from 0 or anything that never comes to its end
   */
  public ConnectionManager(List<Device> devices, LongSupplier clock, RandomGenerator random) {
    this.devices = List.copyOf(devices);
    this.clock = clock;
    this.random = random;
    this.ports = new PortTable(random);
  }

  /** A program has closed the file, or has ended: so do its connections. */
  public void close(CmChannel channel) {
    channel.close();
    while (!channel.ids().isEmpty()) {
      destroy(channel.ids().getFirst());
    }
  }

  CmId create(CmChannel channel, long userHandle, int portSpace, int queuePairType)
      throws ErrnoException {
    int type =
        switch (portSpace) {
          case CmAbi.PS_TCP -> UverbsAbi.TYPE_RC;
          case CmAbi.PS_UDP, CmAbi.PS_IPOIB -> UverbsAbi.TYPE_UD;
          case CmAbi.PS_IB -> queuePairType;
          default -> throw new ErrnoException(Errno.EINVAL);
        };
    CmId id = add(channel, portSpace, type);
    id.userHandle = userHandle;
    return id;
  }

  private CmId add(CmChannel channel, int portSpace, int type) throws ErrnoException {
    BitSet taken = numbers.computeIfAbsent(channel.pid(), _ -> new BitSet());
    int number = taken.nextClearBit(0);
    ErrnoException.require(number < MAX_IDS, Errno.ENOMEM);
    taken.set(number);
    CmId id = new CmId(channel, number, portSpace, type, random.nextInt(1 << 24));
    channel.add(id);
    return id;
  }

  /** Ends an id; its peer gets what the protocol has for an end that goes. */
  int destroy(CmId id) {
    State last = id.state;
    CmId peer = id.peer;
    id.state = State.CLOSED;
    for (CmEvent unread : id.channel.removeEvents(id)) {
      if (unread.id() != id) {
        destroy(unread.id());
      }
    }
    if (last == State.LISTENING) {
      endListener(id);
    }
    CmId listener = id.awaited;
    if (listener != null) {
      listener.waiting.remove(id);
    }
    ports.release(id);
    waiting.remove(id);
    id.channel.remove(id);
    BitSet taken = numbers.get(id.channel.pid());
    if (taken != null) {
      taken.clear(id.number);
      if (taken.isEmpty()) {
        numbers.remove(id.channel.pid());
      }
    }
    if (peer != null) {
      onPeerGone(peer);
    }
    return id.eventsReported;
  }

  /** Rejects the requests that have not been announced. */
  private void endListener(CmId listener) {
    for (CmId request : List.copyOf(listener.waiting)) {
      onRejected(request, noListener(request), NOTHING);
    }
    listener.waiting.clear();
  }

  private static int noListener(CmId request) {
    return request.isDatagram() ? CmAbi.SIDR_UNSUPPORTED : CmAbi.REJ_INVALID_SERVICE;
  }

  private void onPeerGone(CmId id) {
    switch (id.state) {
      case REQUEST_SENT ->
          onRejected(id, id.isDatagram() ? CmAbi.SIDR_REJECT : CmAbi.REJ_CONSUMER, NOTHING);
      case REQUEST_RECEIVED -> {
        // The program has not accepted, so it gets no event: accepting fails.
        if (id.channel.removeRequest(id)) {
          CmId listener = id.awaited;
          id.peer = null;
          destroy(id);
          if (listener != null) {
            listener.backlog++;
            announceNext(listener);
          }
        } else {
          id.state = State.CLOSED;
        }
      }
      case RESPONSE_SENT, RESPONSE_RECEIVED -> onRejected(id, CmAbi.REJ_CONSUMER, NOTHING);
      case ESTABLISHED -> {
        id.state = State.DISCONNECT_RECEIVED;
        if (!id.isDatagram()) {
          post(id, CmAbi.DISCONNECTED, 0);
        }
      }
      case DISCONNECTING -> {
        end(id);
        post(id, CmAbi.DISCONNECTED, 0);
      }
      default -> {
        // It waits for nothing.
      }
    }
  }

  private void end(CmId id) {
    id.state = State.CLOSED;
    waiting.remove(id);
  }

  /** REJ or a SIDR REP that refuses arrives. */
  private void onRejected(CmId id, int reason, byte[] data) {
    end(id);
    id.awaited = null;
    int type = id.isDatagram() ? CmAbi.UNREACHABLE : CmAbi.REJECTED;
    byte[] whole = id.isDatagram() ? NOTHING : Arrays.copyOf(data, CmAbi.REJ_DATA);
    id.channel.post(new CmEvent(id, id, type, reason, CmParameters.NONE, new Struct(whole), 0, 0));
  }

  private static void post(CmId id, int type, int status) {
    id.channel.post(CmEvent.of(id, type, status));
  }

  void bind(CmId id, CmAddress address) throws ErrnoException {
    id.require(id.state == State.IDLE);
    Device device = null;
    if (!address.isAny()) {
      device = withGid(address.gid());
      ErrnoException.require(device != null, Errno.EADDRNOTAVAIL);
    }
    id.source = ports.bind(id, address);
    id.device = device;
    id.state = State.BOUND;
  }

  private @Nullable Device withGid(Gid gid) {
    for (Device device : devices) {
      if (device.indexOf(gid) >= 0) {
        return device;
      }
    }
    return null;
  }

  /**
   * Finds the way to an address. Where the id has no address, packets to one of this machine leave
   * from the same one.
   *
   * @param from the id's own address, or null
   */
  void resolveAddress(CmId id, @Nullable CmAddress from, CmAddress to) throws ErrnoException {
    if (id.state == State.IDLE) {
      bind(id, from == null ? CmAddress.any(to.family(), id.portSpace) : from);
    }
    id.require(id.state == State.BOUND && id.source.family() == to.family());
    id.channel.requireRoom();
    CmAddress there = to.isAny() ? to.withGid(loopback(id, to)) : to;
    Gid local = there.isMulticast() ? loopback(id, to) : there.gid();
    Device remote = withGid(local);
    id.destination = there;
    if (remote == null) {
      post(id, CmAbi.ADDR_ERROR, -Errno.EHOSTUNREACH);
      return;
    }
    if (id.device == null) {
      id.device = remote;
      id.source = id.source.withGid(local);
    }
    id.state = State.ADDRESS_RESOLVED;
    post(id, CmAbi.ADDR_RESOLVED, 0);
  }

  /** "Any" as a destination is this end: its own address, or the first device's of the family. */
  private Gid loopback(CmId id, CmAddress to) {
    if (!id.source.isAny()) {
      return id.source.gid();
    }
    for (Gid gid : devices.getFirst().gids()) {
      if (gid.isIpv4() == (to.family() == CmAddress.INET)) {
        return gid;
      }
    }
    return to.gid();
  }

  void resolveRoute(CmId id) throws ErrnoException {
    id.require(id.state == State.ADDRESS_RESOLVED);
    id.state = State.ROUTE_RESOLVED;
    post(id, CmAbi.ROUTE_RESOLVED, 0);
  }

  void listen(CmId id, int backlog) throws ErrnoException {
    if (id.state == State.IDLE) {
      bind(id, CmAddress.any(CmAddress.INET, id.portSpace));
    }
    id.require(id.state == State.BOUND);
    ports.requireAlone(id);
    id.backlog = backlog > 0 && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
    id.state = State.LISTENING;
  }

  /** Sends REQ, or SIDR REQ of datagrams. */
  void connect(CmId id, CmParameters parameters, byte[] data, int vendor, int ece)
      throws ErrnoException {
    CmAddress to = id.destination;
    id.require(id.state == State.ROUTE_RESOLVED && to != null && data.length <= id.requestData());
    say(id, parameters, data, vendor, ece);
    id.responderResources = parameters.responderResources();
    id.initiatorDepth = parameters.initiatorDepth();
    id.retryCount = parameters.retryCount();
    id.state = State.REQUEST_SENT;
    CmId listener = to == null ? null : ports.listener(to);
    if (listener == null || listener.isDatagram() != id.isDatagram()) {
      onRejected(id, noListener(id), NOTHING);
      return;
    }
    await(id);
    id.awaited = listener;
    listener.waiting.add(id);
    announceNext(listener);
  }

  private static void say(CmId id, CmParameters parameters, byte[] data, int vendor, int ece) {
    id.parameters = parameters;
    id.data = data;
    id.vendor = vendor;
    id.ece = ece;
  }

  private void await(CmId id) {
    id.deadline = clock.getAsLong() + ANSWER_NANOS;
    nextDeadline = Math.min(nextDeadline, id.deadline);
    waiting.add(id);
  }

  /** Announces requests while the listener's program has room for them. */
  private void announceNext(CmId listener) {
    while (listener.state == State.LISTENING
        && listener.backlog > 0
        && !listener.waiting.isEmpty()) {
      CmId request = listener.waiting.element();
      CmId child;
      try {
        child = add(listener.channel, listener.portSpace, listener.queuePairType());
      } catch (ErrnoException e) {
        return; // Its program has as many ids as it may have: the request waits.
      }
      listener.waiting.remove();
      listener.backlog--;
      request.awaited = null;
      announce(listener, request, child);
    }
  }

  private void announce(CmId listener, CmId request, CmId child) {
    CmAddress to = request.destination;
    child.destination = request.source;
    child.source = to == null ? child.source : to;
    child.device = withGid(child.source.gid());
    child.state = State.REQUEST_RECEIVED;
    child.awaited = listener;
    child.peer = request;
    request.peer = child;
    CmParameters seen = request.parameters.seenByPeer();
    child.responderResources = seen.responderResources();
    child.initiatorDepth = seen.initiatorDepth();
    child.retryCount = seen.retryCount();
    child.rnrRetryCount = seen.rnrRetryCount();
    child.typeOfService = request.typeOfService;
    Struct data = new Struct(Arrays.copyOf(request.data, request.requestData()));
    listener.channel.post(
        new CmEvent(
            listener, child, CmAbi.CONNECT_REQUEST, 0, seen, data, request.vendor, request.ece));
  }

  /** A program takes the first event of its file. */
  void onEventTaken(CmChannel channel, CmEvent event) {
    channel.removeFirst();
    CmId owner = event.owner();
    owner.eventsReported++;
    if (event.multicast() != null) {
      event.multicast().eventsReported++;
    }
    if (event.type() == CmAbi.CONNECT_REQUEST) {
      owner.backlog++;
      announceNext(owner);
    }
  }

  /** Sends REP, or the SIDR REP of datagrams. */
  void accept(CmId id, long userHandle, CmParameters parameters, byte[] data, int vendor, int ece)
      throws ErrnoException {
    CmId peer = id.peer;
    id.require(
        id.state == State.REQUEST_RECEIVED
            && peer != null
            && data.length <= (id.isDatagram() ? CmAbi.SIDR_REP_DATA : CmAbi.REP_DATA));
    if (peer == null) {
      return;
    }
    say(id, parameters, data, vendor, ece);
    id.userHandle = userHandle;
    id.awaited = null;
    waiting.remove(peer);
    if (id.isDatagram()) {
      id.state = State.ESTABLISHED;
      peer.state = State.ESTABLISHED;
      int key = id.source.isIb() ? parameters.queueKey() : CmId.DATAGRAM_KEY;
      CmParameters told = new CmParameters(parameters.queuePair(), key, 0, 0, 0, 0, 0, 0);
      tell(peer, CmAbi.ESTABLISHED, told, id, CmAbi.SIDR_REP_DATA);
      return;
    }
    id.responderResources = parameters.responderResources();
    id.initiatorDepth = parameters.initiatorDepth();
    CmParameters seen = parameters.seenByPeer();
    peer.responderResources = seen.responderResources();
    peer.initiatorDepth = seen.initiatorDepth();
    peer.rnrRetryCount = seen.rnrRetryCount();
    id.state = State.RESPONSE_SENT;
    peer.state = State.RESPONSE_RECEIVED;
    await(id);
    tell(peer, CmAbi.CONNECT_RESPONSE, seen, id, CmAbi.REP_DATA);
  }

  /** An answer of {@code from} arrives. */
  private static void tell(CmId to, int type, CmParameters parameters, CmId from, int bytes) {
    Struct data = new Struct(Arrays.copyOf(from.data, bytes));
    to.channel.post(new CmEvent(to, to, type, 0, parameters, data, from.vendor, from.ece));
  }

  /** Sends RTU: the connection is there. */
  void acceptResponse(CmId id) throws ErrnoException {
    CmId peer = id.peer;
    id.require(id.state == State.RESPONSE_RECEIVED && peer != null);
    id.state = State.ESTABLISHED;
    if (peer != null && peer.state == State.RESPONSE_SENT) {
      establish(peer);
    }
  }

  private void establish(CmId id) {
    id.state = State.ESTABLISHED;
    waiting.remove(id);
    post(id, CmAbi.ESTABLISHED, 0);
  }

  /** Data of the peer has come before its RTU. */
  void onCommunicationEstablished(CmId id) throws ErrnoException {
    ErrnoException.require(id.state != State.ESTABLISHED, Errno.EISCONN);
    id.require(id.state == State.RESPONSE_SENT);
    establish(id);
  }

  /** Sends REJ, or a SIDR REP that refuses. */
  void reject(CmId id, byte[] data, int reason) throws ErrnoException {
    CmId peer = id.peer;
    boolean answers = id.state == State.REQUEST_RECEIVED || id.state == State.RESPONSE_RECEIVED;
    id.require(answers && peer != null && data.length <= CmAbi.REJ_DATA);
    if (peer != null) {
      end(id);
      onRejected(peer, id.isDatagram() ? CmAbi.SIDR_REJECT : reason, data);
    }
  }

  /** Sends DREQ, or DREP to the peer's. */
  void disconnect(CmId id) throws ErrnoException {
    id.requireDevice();
    CmId peer = id.peer;
    if (peer == null || id.isDatagram()) {
      return;
    }
    if (id.state == State.ESTABLISHED) {
      id.state = State.DISCONNECTING;
      await(id);
      peer.state = State.DISCONNECT_RECEIVED;
      post(peer, CmAbi.DISCONNECTED, 0);
    } else if (id.state == State.DISCONNECT_RECEIVED) {
      id.state = State.CLOSED;
      if (peer.state == State.DISCONNECTING) {
        end(peer);
        post(peer, CmAbi.DISCONNECTED, 0);
      }
    }
  }

  /**
   * Joins a group, of which the id's queue pair becomes a member by {@code ibv_attach_mcast}.
   *
   * @return the membership, whose event comes now
   */
  CmId.Multicast join(CmId id, long userHandle, CmAddress group) throws ErrnoException {
    id.require(id.isDatagram() && (id.state == State.BOUND || id.state == State.ADDRESS_RESOLVED));
    id.requireDevice();
    id.require(group.isMulticast() && id.multicasts.size() < MAX_MULTICASTS);
    id.channel.requireRoom();
    CmId.Multicast joined = new CmId.Multicast(++multicasts, id, userHandle, group.gid());
    id.multicasts.put(joined.number, joined);
    return joined;
  }

  /**
   * Ends a membership of one of a file's ids.
   *
   * @return its events that the program has read
   * @throws ErrnoException ENOENT where there is none of that number
   */
  int leave(CmChannel channel, int number) throws ErrnoException {
    for (CmId id : channel.ids()) {
      CmId.Multicast left = id.multicasts.remove(number);
      if (left != null) {
        channel.removeEvents(left);
        return left.eventsReported;
      }
    }
    throw new ErrnoException(Errno.ENOENT);
  }

  /** Moves an id and its events to another file of the program. */
  int migrate(CmId id, CmChannel to) {
    CmChannel from = id.channel;
    if (from != to) {
      from.remove(id);
      to.add(id);
      for (CmEvent event : from.removeEvents(id)) {
        if (event.id() != id) {
          from.remove(event.id());
          to.add(event.id());
        }
        to.post(event);
      }
    }
    return id.eventsReported;
  }

  /**
   * Ends what has waited too long.
   *
   * @return the number of ends that gave up
   */
  public int expire() {
    if (waiting.isEmpty()) {
      return 0;
    }
    long now = clock.getAsLong();
    if (now < nextDeadline) {
      return 0;
    }
    int expired = 0;
    nextDeadline = Long.MAX_VALUE;
    for (CmId id : List.copyOf(waiting)) {
      if (!waiting.contains(id)) {
        continue;
      }
      if (id.deadline > now) {
        nextDeadline = Math.min(nextDeadline, id.deadline);
        continue;
      }
      expired++;
      onTimeout(id);
    }
    return expired;
  }

  private void onTimeout(CmId id) {
    State was = id.state;
    CmId listener = id.awaited;
    if (listener != null) {
      listener.waiting.remove(id);
      id.awaited = null;
    }
    end(id);
    post(id, was == State.DISCONNECTING ? CmAbi.DISCONNECTED : CmAbi.UNREACHABLE, -Errno.ETIMEDOUT);
    CmId peer = id.peer;
    if (peer != null && was == State.REQUEST_SENT) {
      onPeerGone(peer);
    } else if (peer != null && was == State.RESPONSE_SENT) {
      peer.state = State.CLOSED;
    }
  }

  int ids() {
    return numbers.values().stream().mapToInt(BitSet::cardinality).sum();
  }

  /**
   * A device as connections see it.
   *
   * @param number of {@code mlx5_N}
   * @param guid its node GUID
   * @param gids its GIDs by index
   */
  public record Device(int number, long guid, List<Gid> gids) {
    int indexOf(Gid gid) {
      return gids.indexOf(gid);
    }
  }
}
