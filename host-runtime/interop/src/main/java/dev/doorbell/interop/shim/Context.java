package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.interop.shim.ClientProcess.Lease;
import dev.doorbell.interop.shim.ClientProcess.Range;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A device that a program has open, and everything that it has made there. */
final class Context {
  private static final List<Class<? extends Resource>> ORDER =
      List.of(
          Resource.Qp.class,
          Resource.Srq.class,
          Resource.Cq.class,
          Resource.Mr.class,
          Resource.Ah.class,
          Resource.Umem.class,
          Resource.Chip.class,
          Resource.Pd.class,
          Resource.Uar.class);

  private static final int DISARMED = -1;
  private static final int COMPLETION_RECORD = 8;
  private static final int ASYNC_RECORD = 16;

  private final ShimServer server;
  private final Device device;
  private final ClientProcess process;
  private final ProtectionDomain queues;
  private final Command.Copies copies;
  private final Map<Integer, Resource> resources = new HashMap<>();
  private final List<UarPage> pages = new ArrayList<>();
  private final List<Resource.Cq> armable = new ArrayList<>();
  private final List<Resource.Channel> channels = new ArrayList<>();
  private final DevxEvents devxEvents = new DevxEvents();
  private final CompletionChannel devxCompletions;
  private @Nullable EventQueue async;
  private int handles;

  Context(ShimServer server, Device device, ClientProcess process, Command.Copies copies) {
    this.server = server;
    this.device = device;
    this.process = process;
    this.copies = copies;
    this.queues = device.hca().allocateProtectionDomain();
    this.devxCompletions = device.hca().createCompletionChannel();
    device.contexts.add(this);
  }

  Device device() {
    return device;
  }

  ClientProcess process() {
    return process;
  }

  /** Owns the completion queues, which belong to no domain of the program. */
  ProtectionDomain queues() {
    return queues;
  }

  ShimServer server() {
    return server;
  }

  void copyIn(long address, byte[] to) throws Refusal {
    copies.in(process.memory(), address, to);
  }

  void copyOut(long address, byte[] from) throws Refusal {
    copies.out(process.memory(), address, from);
  }

  /** Keeps an object and gives it a handle. */
  int add(Resource resource) {
    handles++;
    resources.put(handles, resource);
    switch (resource) {
      case Resource.Cq cq -> armable.add(cq);
      case Resource.Uar uar -> pages.add(uar.page);
      default -> {}
    }
    return handles;
  }

  /**
   * The object with that handle.
   *
   * @throws Refusal when there is none of that type
   */
  <T extends Resource> T find(Class<T> type, int handle) throws Refusal {
    Resource resource = resources.get(handle);
    if (!type.isInstance(resource)) {
      throw new Refusal(Errno.ENOENT);
    }
    return type.cast(resource);
  }

  /** An object of that type that the test holds for, or null. */
  <T extends Resource> @Nullable T search(Class<T> type, Predicate<? super T> test) {
    for (Resource resource : resources.values()) {
      if (type.isInstance(resource) && test.test(type.cast(resource))) {
        return type.cast(resource);
      }
    }
    return null;
  }

  /**
   * Ends an object.
   *
   * @throws HcaException while others need it
   */
  void remove(int handle) throws Refusal {
    Resource resource = find(Resource.class, handle);
    resource.close();
    resources.remove(handle);
    switch (resource) {
      case Resource.Cq cq -> armable.remove(cq);
      case Resource.Uar uar -> pages.remove(uar.page);
      default -> {}
    }
  }

  /**
   * Maps a queue of the program here.
   *
   * @throws Refusal when it cannot be mapped
   */
  Lease lease(long start, long bytes) throws Refusal {
    try {
      return process.lease(start, bytes);
    } catch (IOException e) {
      throw new Refusal(Errno.ENOMEM);
    }
  }

  /** Makes sure that a range of the program is shared, before anything of a command is done. */
  void requireShared(long start, long bytes) throws Refusal, NeedsPages {
    if (start < 0 || bytes <= 0 || start + bytes > 1L << ClientProcess.ADDRESS_BITS) {
      throw new Refusal(Errno.EFAULT);
    }
    List<Range> missing = process.missing(start, bytes);
    if (!missing.isEmpty()) {
      Range first = missing.getFirst();
      if (!process.isMapped(first.start(), first.bytes(), true)) {
        throw new Refusal(Errno.EFAULT);
      }
      throw new NeedsPages(first);
    }
  }

  /** A completion queue was made: only what the program writes from now on arms it. */
  static void disarm(Resource.Cq cq) {
    cq.armed = DISARMED;
    RawMemory.putIntRelease(cq.queue.recordAddress() + DoorbellRecord.ARM_OFFSET, DISARMED);
  }

  Resource.Channel addChannel() {
    Resource.Channel channel =
        new Resource.Channel(
            server.newEvents(COMPLETION_RECORD), device.hca().createCompletionChannel());
    channels.add(channel);
    return channel;
  }

  /** The channel with that file descriptor in the program. */
  Resource.Channel channel(int descriptor) throws Refusal {
    for (Resource.Channel channel : channels) {
      if (channel.events.descriptor() == descriptor) {
        return channel;
      }
    }
    throw new Refusal(Errno.EBADF);
  }

  /** Where completion queues made by DEVX tell of completions. */
  CompletionChannel devxCompletions() {
    return devxCompletions;
  }

  DevxEvents devxEvents() {
    return devxEvents;
  }

  EventQueue openAsync() {
    EventQueue events = server.newEvents(ASYNC_RECORD);
    async = events;
    return events;
  }

  @Nullable EventQueue async() {
    return async;
  }

  /** The doorbell page with that number, or null. */
  @Nullable UarPage page(int number) {
    for (UarPage page : pages) {
      if (page.number() == number) {
        return page;
      }
    }
    return null;
  }

  /** Numbers of the doorbell pages. */
  List<Integer> uars() {
    return pages.stream().map(UarPage::number).toList();
  }

  boolean hasQueues() {
    return !armable.isEmpty();
  }

  /**
   * Looks at the doorbell pages, and passes on events of completion queues.
   *
   * @return what there was
   */
  int look(ClientFabric fabric) {
    int found = 0;
    for (int i = 0; i < pages.size(); i++) {
      UarPage page = pages.get(i);
      found += page.look(fabric);
      if (page.armRung()) {
        for (int j = 0; j < armable.size(); j++) {
          found += page.arm(armable.get(j), fabric);
        }
      }
    }
    return found;
  }

  /** Passes on events of completion queues. */
  int tellCompletions() {
    int told = 0;
    for (int i = channels.size() - 1; i >= 0; i--) {
      Resource.Channel channel = channels.get(i);
      for (var queue = channel.channel.poll(); queue != null; queue = channel.channel.poll()) {
        for (Resource.Cq cq : armable) {
          if (cq.queue.number() == queue.number()) {
            cq.completionEvents++;
            channel.events.add(new Struct(COMPLETION_RECORD).u64(0, cq.userHandle));
            told++;
          }
        }
      }
      if (channel.events.isClosed() && channel.users == 0) {
        channel.channel.close();
        channels.remove(i);
      }
    }
    for (var queue = devxCompletions.poll(); queue != null; queue = devxCompletions.poll()) {
      for (Resource.Cq cq : armable) {
        if (cq.queue.number() == queue.number()) {
          devxEvents.tell(cq, DevxEvents.COMPLETION);
          told++;
        }
      }
    }
    return told;
  }

  /** An asynchronous event of one of its objects, or of the port. */
  void tell(AsyncEvent event) {
    int number = event.number();
    switch (event.type()) {
      case PORT_ACTIVE, PORT_ERROR -> tellVerbs(event, number);
      case CQ_ERROR -> tell(event, search(Resource.Cq.class, one -> one.queue.number() == number));
      case SRQ_LIMIT_REACHED, SRQ_ERROR ->
          tell(event, search(Resource.Srq.class, one -> one.queue.number() == number));
      default -> tell(event, search(Resource.Qp.class, one -> one.queuePair.number() == number));
    }
  }

  private void tell(AsyncEvent event, Resource.@Nullable Queue of) {
    if (of == null) {
      return;
    }
    if (of.isDevx()) {
      devxEvents.tell(of, event.type());
    } else if (tellVerbs(event, of.userHandle)) {
      of.asyncEvents++;
    }
  }

  private boolean tellVerbs(AsyncEvent event, long element) {
    EventQueue to = async;
    if (to != null) {
      to.add(asyncRecord(event, element));
    }
    return to != null;
  }

  /** {@code struct ib_uverbs_async_event_desc}, with {@code enum ib_event_type}. */
  private static Struct asyncRecord(AsyncEvent event, long element) {
    int type =
        switch (event.type()) {
          case CQ_ERROR -> 0;
          case QP_FATAL -> 1;
          case QP_REQUEST_ERROR -> 2;
          case QP_ACCESS_ERROR -> 3;
          case COMMUNICATION_ESTABLISHED -> 4;
          case SQ_DRAINED -> 5;
          case PORT_ACTIVE -> 9;
          case PORT_ERROR -> 10;
          case SRQ_ERROR -> 14;
          case SRQ_LIMIT_REACHED -> 15;
          case LAST_WQE_REACHED -> 16;
        };
    return new Struct(ASYNC_RECORD).u64(0, element).u32(Long.BYTES, type);
  }

  /** The program has closed the device, or is gone: everything ends. */
  void close() {
    for (Class<? extends Resource> type : ORDER) {
      for (Resource resource : List.copyOf(resources.values())) {
        if (type.isInstance(resource)) {
          resource.close();
        }
      }
    }
    resources.clear();
    armable.clear();
    tellCompletions();
    devxCompletions.close();
    queues.close();
    device.contexts.remove(this);
  }
}
