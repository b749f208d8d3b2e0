package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.ErrorRecord;

/** A queue pair behind a proxy, its error record and a region for payload. */
final class ProxyBench {
  final TestWorld world;
  final CommandQueue queue;
  final FakeHca hca;
  final Memory error;
  final Memory region;
  final ProxyAgent proxy;

  ProxyBench(TestWorld world, int queueEntries, FakeHca hca, boolean blueFlame) {
    this.world = world;
    this.hca = hca;
    queue = new CommandQueue(world, queueEntries, 3);
    error = world.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    region = world.allocate(MemoryKind.DEVICE, 1 << 16, "region");
    proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE);
    proxy.serve(queue, hca.access(0, error.address(), blueFlame));
  }

  Producer producer(long seed) {
    return new Producer(world, queue.view(), seed);
  }

  ErrorRecord error() {
    return ErrorRecord.decode(error.getBytes(0, ErrorRecord.BYTES));
  }

  CommandEntry put(long from, long to, int length) {
    CommandEntry command = new CommandEntry();
    command.opcode = CommandEntry.OP_PUT;
    command.localAddress = region.address() + from;
    command.remoteAddress = region.address() + to;
    command.remoteKey = FakeHca.KEY;
    command.length = length;
    return command;
  }

  void conserved() {
    ProxyCounters counters = proxy.counters();
    assertThat(counters.completed + counters.failed).isEqualTo(counters.commands);
    assertThat(queue.consumed()).isEqualTo(counters.commands);
    assertThat(queue.finished()).isEqualTo(counters.commands);
  }
}
