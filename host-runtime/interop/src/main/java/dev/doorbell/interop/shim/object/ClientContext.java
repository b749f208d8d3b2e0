package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.ClientFabric;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.GpuRange;
import dev.doorbell.softhca.SoftProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A device that a program has open, and the objects that the program has created there. */
public final class ClientContext {
  /** Objects are closed in this order of types. */
  private static final List<Class<? extends Resource>> CLOSE_ORDER =
      List.of(
          Resource.Qp.class,
          Resource.Dct.class,
          Resource.Srq.class,
          Resource.Cq.class,
          Resource.Mr.class,
          Resource.Ah.class,
          Resource.Umem.class,
          Resource.OnChip.class,
          Resource.Pd.class,
          Resource.Uar.class);

  /** Handles of an inherited device are none of the parent's. */
  private static final int FIRST_INHERITED_HANDLE = 1 << 24;

  private static final int DISARMED = -1;
  private static final int COMPLETION_RECORD = 8;
  private static final int ASYNC_RECORD = 16;

  private final ServerTables tables;
  private final ServedDevice device;
  private final ClientProcess process;
  private final SoftProtectionDomain completionQueues;
  private final Map<Integer, Resource> resources = new HashMap<>();
  private final List<UarPage> pages = new ArrayList<>();
  private final List<Resource.Cq> armable = new ArrayList<>();
  private final List<Resource.Umem> umemsOnGpus = new ArrayList<>();
  private final List<EventStream> channels = new ArrayList<>();
  private final DevxSubscriptions devxSubscriptions = new DevxSubscriptions();
  private final CompletionChannel completions;
  private @Nullable EventStream asyncEvents;
  private final boolean inherited;
  private int handles;
  private int nextPage;

  /**
   * @param inherited the device was opened by the program's parent
   */
  public ClientContext(
      ServerTables tables, ServedDevice device, ClientProcess process, boolean inherited) {
    this.inherited = inherited;
    this.handles = inherited ? FIRST_INHERITED_HANDLE : 0;
    this.tables = tables;
    this.device = device;
    this.process = process;
    this.completionQueues = device.hca().allocateProtectionDomain();
    this.completions = device.hca().createCompletionChannel();
  }

  /** True where the program's parent had opened the device: its doorbell pages are not here. */
  public boolean isInherited() {
    return inherited;
  }

  public ServedDevice device() {
    return device;
  }

  public ClientProcess process() {
    return process;
  }

  public ServerTables tables() {
    return tables;
  }

  /** Owns the completion queues, which belong to no domain of the program. */
  public SoftProtectionDomain completionQueues() {
    return completionQueues;
  }

  /** Adds an object and returns its handle. */
  public int add(Resource resource) {
    handles++;
    resources.put(handles, resource);
    switch (resource) {
      case Resource.Cq cq -> armable.add(cq);
      case Resource.Uar uar -> pages.add(uar.page());
      case Resource.Umem umem when umem.gpu() != null -> umemsOnGpus.add(umem);
      default -> {}
    }
    return handles;
  }

  /** Number of its objects of that type. */
  public long count(Class<? extends Resource> type) {
    return resources.values().stream().filter(type::isInstance).count();
  }

  /**
   * The object with that handle.
   *
   * @throws ErrnoException ENOENT when there is none of that type
   */
  public <T extends Resource> T find(Class<T> type, int handle) throws ErrnoException {
    Resource resource = resources.get(handle);
    if (!type.isInstance(resource)) {
      throw new ErrnoException(Errno.ENOENT);
    }
    return type.cast(resource);
  }

  /**
   * An object of that type for which the test holds.
   *
   * @throws ErrnoException ENOENT when there is none
   */
  public <T extends Resource> T search(Class<T> type, Predicate<? super T> test)
      throws ErrnoException {
    return ErrnoException.present(searchOrNull(type, test), Errno.ENOENT);
  }

  /** Searches like {@link #search}; returns null if there is none. */
  public <T extends Resource> @Nullable T searchOrNull(Class<T> type, Predicate<? super T> test) {
    for (Resource resource : resources.values()) {
      if (type.isInstance(resource) && test.test(type.cast(resource))) {
        return type.cast(resource);
      }
    }
    return null;
  }

  /**
   * Closes an object and removes it.
   *
   * @throws ErrnoException ENOENT when there is none of that type
   * @throws HcaException while others use it
   */
  public <T extends Resource> T remove(Class<T> type, int handle) throws ErrnoException {
    T resource = find(type, handle);
    remove(resource, handle);
    return resource;
  }

  /** Closes an object and removes it. */
  public void remove(Resource resource, int handle) {
    resource.close();
    resources.remove(handle);
    switch (resource) {
      case Resource.Cq cq -> armable.remove(cq);
      case Resource.Uar uar -> {
        pages.remove(uar.page());
        tables.freeUarPage(uar.page().number());
      }
      case Resource.Umem umem -> umemsOnGpus.remove(umem);
      default -> {}
    }
  }

  /** Initializes a new completion queue: only later stores of the program arm it. */
  public static void disarm(Resource.Cq cq, Memory record) {
    cq.armWord = DISARMED;
    record.fill(DoorbellRecord.ARM_OFFSET, Integer.BYTES, (byte) DISARMED);
  }

  /** The GPU's memory in which the program's umems have all these bytes, or null. */
  public @Nullable GpuRange gpuMemory(long address, long bytes) {
    for (Resource.Umem umem : umemsOnGpus) {
      if (umem.isOnGpu(address, bytes)) {
        return umem.gpu();
      }
    }
    return null;
  }

  /** Opens a completion channel of the program. */
  public EventStream addChannel() {
    channels.removeIf(EventStream::isClosed);
    EventStream channel = tables.openEvents(process.pid(), COMPLETION_RECORD);
    channels.add(channel);
    return channel;
  }

  /** The channel with that file descriptor in the program. */
  public EventStream channel(int descriptor) throws ErrnoException {
    for (EventStream channel : channels) {
      if (channel.descriptor() == descriptor) {
        return channel;
      }
    }
    throw new ErrnoException(Errno.EBADF);
  }

  /** The HCA's channel of all completion queues whose events the program wants. */
  public CompletionChannel completions() {
    return completions;
  }

  /**
   * Opens a channel for events of objects that DEVX commands create.
   *
   * @param eventBytes of each record behind its cookie
   */
  public EventStream openDevxEvents(int eventBytes) {
    return devxSubscriptions.openChannel(tables, process.pid(), eventBytes);
  }

  public DevxSubscriptions devxSubscriptions() {
    return devxSubscriptions;
  }

  public EventStream openAsyncEvents() {
    EventStream events = tables.openEvents(process.pid(), ASYNC_RECORD);
    asyncEvents = events;
    return events;
  }

  public @Nullable EventStream asyncEvents() {
    return asyncEvents;
  }

  /** The doorbell page with that number, or null. */
  public @Nullable UarPage page(int number) {
    for (UarPage page : pages) {
      if (page.number() == number) {
        return page;
      }
    }
    return null;
  }

  /** The doorbell page at an offset of the shared file, or null. */
  public @Nullable UarPage pageAt(long offset) {
    return pages.stream().filter(page -> page.offset() == offset).findFirst().orElse(null);
  }

  /** Lets kernels ring a doorbell page by an address of the window. */
  public void route(ClientFabric fabric, UarPage page, long address) {
    device
        .hca()
        .port()
        .onMmio(address, (at, source, bytes) -> page.store(fabric, address, at, source, bytes));
  }

  public boolean hasQueues() {
    return !armable.isEmpty();
  }

  /**
   * Polls the doorbell pages.
   *
   * @return the number of doorbells
   */
  public int pollDoorbells(ClientFabric fabric) {
    int found = 0;
    for (int i = 0; i < pages.size(); i++) {
      UarPage page = pages.get(i);
      found += page.pollSends(fabric);
      if (page.pollArm()) {
        for (int j = 0; j < armable.size(); j++) {
          found += page.arm(armable.get(j), fabric);
        }
      }
    }
    return found;
  }

  /** Lets the HCA flush receives that were posted to queue pairs in error, one page a call. */
  public int pollFailed(ClientFabric fabric) {
    if (pages.isEmpty()) {
      return 0;
    }
    nextPage = (nextPage + 1) % pages.size();
    return pages.get(nextPage).pollFailed(fabric);
  }

  /** Passes completion events of the HCA on to the program; returns their number. */
  public int forwardCompletionEvents() {
    int events = 0;
    for (var queue = completions.poll(); queue != null; queue = completions.poll()) {
      for (Resource.Cq cq : armable) {
        if (cq.queue.number() == queue.number()) {
          events++;
          if (cq.channel == null) {
            devxSubscriptions.raise(cq, DevxSubscriptions.COMPLETION);
          } else {
            cq.completionEvents++;
            cq.channel.add(new Struct(COMPLETION_RECORD).u64(0, cq.userHandle));
          }
        }
      }
    }
    return events;
  }

  /**
   * Passes on an asynchronous event of the device, if it concerns the port or one of its objects.
   */
  public void onAsyncEvent(AsyncEvent event) {
    int number = event.number();
    Class<? extends Resource.Queue> type =
        switch (event.type()) {
          case PORT_ACTIVE, PORT_ERROR -> null;
          case CQ_ERROR -> Resource.Cq.class;
          case SRQ_LIMIT_REACHED, SRQ_ERROR -> Resource.Srq.class;
          default -> Resource.Qp.class;
        };
    if (type == null) {
      addAsyncRecord(event, number);
      return;
    }
    Resource.Queue queue = searchOrNull(type, one -> one.number() == number);
    if (queue != null && queue.isDevx()) {
      devxSubscriptions.raise(queue, event.type().mlx5());
    } else if (queue != null && addAsyncRecord(event, queue.userHandle)) {
      queue.asyncEvents++;
    }
  }

  private boolean addAsyncRecord(AsyncEvent event, long element) {
    EventStream to = asyncEvents;
    if (to != null) {
      to.add(asyncRecord(event, element));
    }
    return to != null;
  }

  /** {@code struct ib_uverbs_async_event_desc}, with {@code enum ib_event_type}. */
  private static Struct asyncRecord(AsyncEvent event, long element) {
    return new Struct(ASYNC_RECORD).u64(0, element).u32(Long.BYTES, event.type().verbs());
  }

  /** Closes all objects: the program has closed the device, or has ended. */
  public void close() {
    for (Class<? extends Resource> type : CLOSE_ORDER) {
      for (Resource resource : List.copyOf(resources.values())) {
        if (type.isInstance(resource)) {
          if (resource instanceof Resource.Qp qp) {
            qp.release();
          }
          resource.close();
        }
      }
    }
    resources.clear();
    armable.clear();
    forwardCompletionEvents();
    completions.close();
    completionQueues.close();
    pages.forEach(page -> tables.freeUarPage(page.number()));
  }
}
