package dev.doorbell.interop.serve;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlLine.Refused;
import dev.doorbell.interop.control.LineChannel;
import dev.doorbell.softhca.DriverAccess;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The regions and queue pairs of one client of a served HCA, in a protection domain of its own;
 * they end with its connection.
 */
final class ClientSession implements AutoCloseable {
  private static final int VERSION = 1;
  private static final int MAX_QPN = 0xff_ffff;
  private static final int SEND_BLOCKS = 64;
  private static final int MAX_RECEIVES = 1024;
  private static final int DEFAULT_RECEIVE_BYTES = 4096;
  private static final int MAX_RECEIVE_BYTES = 1 << 20;
  private static final long PAGE = 4096;
  private static final long LEAST_ADDRESS = 1L << 32;
  private static final long ADDRESS_LIMIT = 1L << 47;
  private static final SecureRandom DICE = new SecureRandom();

  private record Region(Memory memory, MemoryRegion region) {}

  private record Connected(HostQueuePair queuePair, long bytes) {}

  private final HcaServer server;
  private final LineChannel channel;
  private final ProtectionDomain domain;
  private final Map<Integer, Region> regions = new LinkedHashMap<>();
  private final Map<Integer, Connected> queuePairs = new LinkedHashMap<>();

  ClientSession(HcaServer server, LineChannel channel) {
    this.server = server;
    this.channel = channel;
    this.domain = server.newDomain();
  }

  /**
   * Answers requests and keeps receives posted.
   *
   * @return false when the client has disconnected
   */
  boolean poll() {
    String line = channel.poll();
    while (line != null) {
      channel.send(answer(line));
      server.countAnswer();
      line = channel.poll();
    }
    for (Connected connected : queuePairs.values()) {
      connected.queuePair.pollReceives();
    }
    return channel.ended() == null;
  }

  private ControlLine answer(String line) {
    try {
      ControlLine request = ControlLine.parse(line);
      return switch (request.verb()) {
        case "hello" -> hello(request);
        case "region" -> region(request);
        case "release" -> release(request);
        case "connect" -> connect(request);
        case "disconnect" -> disconnect(request);
        case "received" -> received(request);
        case "stats" -> server.stats();
        case "faults" -> server.faults(request.number("from", 0, Integer.MAX_VALUE, 0));
        case "pcap" -> server.pcap(request);
        default -> throw new Refused("unknown verb '%s'".formatted(request.verb()));
      };
    } catch (Refused | HcaException e) {
      return ControlLine.error(String.valueOf(e.getMessage()));
    }
  }

  private ControlLine hello(ControlLine request) throws Refused {
    request.number("version", VERSION, VERSION);
    return ControlLine.ok()
        .with("version", VERSION)
        .with("hca", server.address())
        .with("mtu", server.options().mtu());
  }

  private ControlLine region(ControlLine request) throws Refused {
    long bytes = request.number("bytes", 1, server.options().memoryBytes());
    server.reserve(bytes, 0);
    Memory memory = null;
    try {
      memory = server.memory().allocate(MemoryKind.HOST, bytes, "region of " + channel.peer());
      // Its client names it by an address that says nothing about where it lies.
      MemoryRegion region =
          DriverAccess.register(
              domain,
              DICE.nextLong(LEAST_ADDRESS, ADDRESS_LIMIT) & -PAGE,
              memory.address(),
              bytes,
              HostQueuePair.RIGHTS,
              DriverAccess.ANY_VARIANT);
      regions.put(region.rkey(), new Region(memory, region));
      return ControlLine.ok()
          .with("address", "0x" + Long.toHexString(region.address()))
          .with("rkey", "0x" + Integer.toHexString(region.rkey()))
          .with("bytes", bytes);
    } catch (IllegalStateException | IllegalArgumentException | HcaException e) {
      server.release(bytes, 0);
      if (memory != null) {
        memory.close();
      }
      throw new Refused(String.valueOf(e.getMessage()));
    }
  }

  private ControlLine release(ControlLine request) throws Refused {
    int key = (int) request.number("rkey", 0, 0xffff_ffffL);
    Region region = regions.remove(key);
    if (region == null) {
      throw new Refused("this client has no region with that key");
    }
    close(region);
    return ControlLine.ok();
  }

  private ControlLine connect(ControlLine request) throws Refused {
    QueuePairAddress peer =
        new QueuePairAddress(
            request.word("hca"),
            (int) request.number("qpn", 1, MAX_QPN),
            (int) request.number("psn", 0, MAX_QPN),
            (int) request.number("mtu", 256, 4096));
    int receives = (int) request.number("receives", 0, MAX_RECEIVES, 0);
    int receiveBytes =
        (int) request.number("receive_bytes", 1, MAX_RECEIVE_BYTES, DEFAULT_RECEIVE_BYTES);
    if (Integer.bitCount(receives) > 1) {
      throw new Refused("receives=%d: a power of two is needed".formatted(receives));
    }
    long bytes = HostQueuePair.footprint(SEND_BLOCKS, receives, receiveBytes);
    server.reserve(bytes, 1);
    HostQueuePair created = null;
    try {
      created = new HostQueuePair(domain, server.memory(), SEND_BLOCKS, receives, receiveBytes);
      created.connect(peer, HostQueuePair.LOSSY);
    } catch (IllegalStateException | IllegalArgumentException | HcaException e) {
      server.release(bytes, 1);
      if (created != null) {
        created.close();
      }
      throw new Refused(String.valueOf(e.getMessage()));
    }
    QueuePairAddress own = created.queuePair().address();
    queuePairs.put(own.number(), new Connected(created, bytes));
    return ControlLine.ok()
        .with("hca", own.hca())
        .with("qpn", own.number())
        .with("psn", own.startPsn())
        .with("mtu", own.mtu());
  }

  private Connected own(ControlLine request) throws Refused {
    Connected connected = queuePairs.get((int) request.number("qpn", 0, MAX_QPN));
    if (connected == null) {
      throw new Refused("this client has no queue pair with that number");
    }
    return connected;
  }

  private ControlLine disconnect(ControlLine request) throws Refused {
    Connected connected = own(request);
    queuePairs.remove(connected.queuePair.queuePair().number());
    close(connected);
    return ControlLine.ok();
  }

  private ControlLine received(ControlLine request) throws Refused {
    HostQueuePair queuePair = own(request).queuePair;
    queuePair.pollReceives();
    return ControlLine.ok()
        .with("messages", queuePair.received())
        .with("bytes", queuePair.receivedBytes())
        .with("state", queuePair.queuePair().state());
  }

  private void close(Region region) {
    long bytes = region.memory.size();
    region.region.close();
    region.memory.close();
    server.release(bytes, 0);
  }

  private void close(Connected connected) {
    connected.queuePair.close();
    server.release(connected.bytes, 1);
  }

  @Override
  public void close() {
    queuePairs.values().forEach(this::close);
    queuePairs.clear();
    regions.values().forEach(this::close);
    regions.clear();
    domain.close();
    channel.close();
  }
}
