package dev.doorbell.interop.shim.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.uverbs.generated.CmAbi;
import dev.doorbell.interop.shim.abi.Struct;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Commands of programs on {@code rdma_cm} files, and what their peers get of them. */
class ConnectionManagerTest {
  private static final int FIRST = 0x7f00_0001;
  private static final int SECOND = 0x7f00_0002;
  private static final int PORT = 7174;
  private static final int RTR = 2;
  private static final int RTS = 3;

  private long now;
  private final ConnectionManager connections =
      new ConnectionManager(
          List.of(
              new ConnectionManager.Device(
                  0, 0x11, List.of(new Gid(0xfe80L << 48, 1), Gid.ofIpv4(FIRST))),
              new ConnectionManager.Device(
                  1, 0x22, List.of(new Gid(0xfe80L << 48, 2), Gid.ofIpv4(SECOND)))),
          () -> now,
          new Random(1));
  private final CmProgram server = new CmProgram(connections, 100);
  private final CmProgram client = new CmProgram(connections, 200);

  private record Pair(int client, int server) {}

  private Pair connected() {
    server.listen(CmAbi.PS_TCP, 0, PORT, 8);
    int id = client.routed(CmAbi.PS_TCP, SECOND, PORT);
    assertThat(client.connect(id, 0x101, "hello")).isZero();
    int child = server.next().id();
    assertThat(server.accept(child, 0x202, "welcome")).isZero();
    assertThat(client.next().type()).isEqualTo(CmAbi.CONNECT_RESPONSE);
    assertThat(client.acceptResponse(id)).isZero();
    server.expect(CmAbi.ESTABLISHED, 0);
    return new Pair(id, child);
  }

  @Test
  void ends_meet_with_private_data_and_the_numbers_of_their_queue_pairs() {
    int listener = server.listen(CmAbi.PS_TCP, 0, PORT, 8);
    int id = client.routed(CmAbi.PS_TCP, SECOND, PORT);
    assertThat(client.connect(id, 0x101, "hello")).isZero();
    CmProgram.Event request = server.next();
    assertThat(request.type()).isEqualTo(CmAbi.CONNECT_REQUEST);
    assertThat(request.userHandle()).as("the listener's").isEqualTo(0xabc);
    assertThat(request.data()).isEqualTo("hello");
    assertThat(request.dataLength()).isEqualTo(CmAbi.REQ_DATA - CmAbi.IP_HEADER);
    assertThat(request.queuePair()).isEqualTo(0x101);
    assertThat(request.all().u32(328)).as("ECE").isEqualTo(0x15b3);
    // What the client issues, the server takes.
    assertThat(request.all().u8(20 + 266)).isEqualTo(5);
    assertThat(request.all().u8(20 + 267)).isEqualTo(3);
    Struct there = server.attributes(request.id(), RTR);
    assertThat(there.u32(32)).isEqualTo(0x101);
    assertThat(there.be64(48)).as("the way back").isEqualTo(Gid.ipv4Low(SECOND));
    assertThat(server.accept(request.id(), 0x202, "welcome")).isZero();
    CmProgram.Event response = client.next();
    assertThat(response.type()).isEqualTo(CmAbi.CONNECT_RESPONSE);
    assertThat(response.data()).isEqualTo("welcome");
    assertThat(response.dataLength()).isEqualTo(CmAbi.REP_DATA);
    Struct here = client.attributes(id, RTR);
    assertThat(here.u32(32)).isEqualTo(0x202);
    assertThat(here.u8(60)).as("index of the GID of an IPv4 address").isEqualTo(1);
    assertThat(client.attributes(id, RTS).u32(28))
        .as("packets begin where the peer expects them")
        .isEqualTo(server.attributes(request.id(), RTR).u32(24));
    assertThat(client.acceptResponse(id)).isZero();
    server.expect(CmAbi.ESTABLISHED, 0);
    assertThat(server.destroy(listener)).as("events that it has to acknowledge").isEqualTo(1);
  }

  @Test
  void a_request_that_nobody_awaits_is_rejected() {
    int id = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(id, 1, "")).isZero();
    client.expect(CmAbi.REJECTED, CmAbi.REJ_INVALID_SERVICE);
    int datagrams = client.routed(CmAbi.PS_UDP, FIRST, PORT);
    assertThat(client.connect(datagrams, 1, "")).isZero();
    client.expect(CmAbi.UNREACHABLE, CmAbi.SIDR_UNSUPPORTED);
    assertThat(client.connect(id, 1, "")).isEqualTo(Errno.EINVAL);
  }

  @Test
  void an_address_of_no_device_is_no_way_and_the_id_may_try_another_one() {
    int id = client.create(CmAbi.PS_TCP, 1);
    assertThat(client.resolve(id, 0x0a00_0001, PORT)).isZero();
    client.expect(CmAbi.ADDR_ERROR, -Errno.EHOSTUNREACH);
    assertThat(client.resolve(id, SECOND, PORT)).isZero();
    client.expect(CmAbi.ADDR_RESOLVED, 0);
    assertThat(client.bind(client.create(CmAbi.PS_TCP, 1), 0x0a00_0001, 0))
        .isEqualTo(Errno.EADDRNOTAVAIL);
  }

  @Test
  void a_rejection_carries_its_reason_and_private_data() {
    server.listen(CmAbi.PS_TCP, SECOND, PORT, 8);
    int id = client.routed(CmAbi.PS_TCP, SECOND, PORT);
    assertThat(client.connect(id, 1, "")).isZero();
    int child = server.next().id();
    assertThat(server.reject(child, "no")).isZero();
    CmProgram.Event rejected = client.next();
    assertThat(rejected.type()).isEqualTo(CmAbi.REJECTED);
    assertThat(rejected.status()).isEqualTo(CmAbi.REJ_CONSUMER);
    assertThat(rejected.data()).isEqualTo("no");
    assertThat(server.accept(child, 1, "")).isEqualTo(Errno.EINVAL);
  }

  @Test
  void both_ends_hear_of_a_disconnection_once_both_have_asked() {
    Pair pair = connected();
    assertThat(server.disconnect(pair.server)).isZero();
    server.expectNothing();
    client.expect(CmAbi.DISCONNECTED, 0);
    assertThat(client.disconnect(pair.client)).isZero();
    server.expect(CmAbi.DISCONNECTED, 0);
    assertThat(client.disconnect(pair.client)).isZero();
    server.expectNothing();
    client.expectNothing();
  }

  @Test
  void a_program_that_ends_disconnects_its_peers_and_leaves_no_id() {
    Pair pair = connected();
    connections.close(server.channel);
    client.expect(CmAbi.DISCONNECTED, 0);
    assertThat(client.destroy(pair.client)).isEqualTo(4);
    assertThat(connections.ids()).isZero();
  }

  @Test
  void a_client_that_ends_before_it_is_accepted_is_not_announced_or_cannot_be() {
    server.listen(CmAbi.PS_TCP, 0, PORT, 8);
    int read = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(read, 1, "")).isZero();
    int child = server.next().id();
    int unread = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(unread, 1, "")).isZero();
    connections.close(client.channel);
    server.expectNothing();
    assertThat(server.accept(child, 1, "")).isEqualTo(Errno.EINVAL);
    server.destroy(child);
    assertThat(connections.ids()).as("the listener").isEqualTo(1);
  }

  @Test
  void requests_beyond_the_backlog_wait_until_one_is_read() {
    int listener = server.listen(CmAbi.PS_TCP, 0, PORT, 2);
    for (int i = 0; i < 5; i++) {
      assertThat(client.connect(client.routed(CmAbi.PS_TCP, FIRST, PORT), i, "")).isZero();
    }
    assertThat(connections.ids()).as("listener, 5 clients, 2 announced").isEqualTo(8);
    for (int i = 0; i < 3; i++) {
      assertThat(server.next().queuePair()).isEqualTo(i);
    }
    assertThat(server.destroy(listener)).isEqualTo(3);
    // Two were announced and not read.
    client.expect(CmAbi.REJECTED, CmAbi.REJ_CONSUMER);
    client.expect(CmAbi.REJECTED, CmAbi.REJ_CONSUMER);
    client.expectNothing();
    server.expectNothing();
  }

  @Test
  void who_gets_no_answer_gives_up_after_the_deadline() {
    server.listen(CmAbi.PS_TCP, 0, PORT, 8);
    int id = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(id, 1, "")).isZero();
    int child = server.next().id();
    now += ConnectionManager.ANSWER_NANOS - 1;
    assertThat(connections.expire()).isZero();
    now++;
    assertThat(connections.expire()).isEqualTo(1);
    client.expect(CmAbi.UNREACHABLE, -Errno.ETIMEDOUT);
    assertThat(server.accept(child, 1, "")).isEqualTo(Errno.EINVAL);
  }

  @Test
  void an_answer_without_rtu_and_a_disconnection_without_an_answer_have_a_deadline_too() {
    Pair pair = connected();
    assertThat(client.disconnect(pair.client)).isZero();
    int id = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(id, 1, "")).isZero();
    server.expect(CmAbi.DISCONNECTED, 0);
    assertThat(server.accept(server.next().id(), 1, "")).isZero();
    client.expect(CmAbi.CONNECT_RESPONSE, 0);
    now += ConnectionManager.ANSWER_NANOS;
    assertThat(connections.expire()).isEqualTo(2);
    client.expect(CmAbi.DISCONNECTED, -Errno.ETIMEDOUT);
    server.expect(CmAbi.UNREACHABLE, -Errno.ETIMEDOUT);
    assertThat(client.acceptResponse(id)).isEqualTo(Errno.EINVAL);
  }

  @Test
  void datagram_ids_exchange_queue_pair_and_key() {
    server.listen(CmAbi.PS_UDP, 0, PORT, 8);
    int id = client.routed(CmAbi.PS_UDP, SECOND, PORT);
    assertThat(client.connect(id, 0x101, "hi")).isZero();
    int child = server.next().id();
    assertThat(server.accept(child, 0x303, "")).isZero();
    CmProgram.Event event = client.next();
    assertThat(event.type()).isEqualTo(CmAbi.ESTABLISHED);
    assertThat(event.all().u32(20)).isEqualTo(0x303);
    assertThat(event.all().u32(24)).isEqualTo(CmId.DATAGRAM_KEY);
    assertThat(event.all().be64(36)).as("the way there").isEqualTo(Gid.ipv4Low(SECOND));
    assertThat(client.attributes(id, 1).u32(20)).isEqualTo(CmId.DATAGRAM_KEY);
    server.expectNothing();
  }

  @Test
  void ports_belong_to_one_id_unless_both_share_them() {
    assertThat(server.bind(server.create(CmAbi.PS_TCP, 1), FIRST, PORT)).isZero();
    assertThat(client.bind(client.create(CmAbi.PS_TCP, 1), 0, PORT)).isEqualTo(Errno.EADDRINUSE);
    assertThat(client.bind(client.create(CmAbi.PS_TCP, 1), SECOND, PORT)).isZero();
    int other = client.create(CmAbi.PS_UDP, 1);
    assertThat(client.bind(other, FIRST, PORT)).as("another port space").isZero();
    client.destroy(other);
    assertThat(client.bind(client.create(CmAbi.PS_UDP, 1), FIRST, PORT)).isZero();
  }

  @Test
  void no_program_can_name_the_ids_of_another_one() {
    Pair pair = connected();
    int own = client.create(CmAbi.PS_TCP, 1);
    assertThat(own).as("numbers are the program's own").isNotEqualTo(pair.client);
    CmProgram hostile = new CmProgram(connections, 300);
    for (int id = -1; id < 16; id++) {
      assertThat(hostile.disconnect(id)).isEqualTo(Errno.ENOENT);
      assertThat(hostile.run(CmAbi.MIGRATE_ID, new Struct(16).u32(8, id).u32(12, 3)))
          .isEqualTo(Errno.ENOENT);
    }
    client.expectNothing();
    server.expectNothing();
  }

  @Test
  void the_number_of_ids_of_a_program_is_limited() {
    for (int i = 0; i < ConnectionManager.MAX_IDS; i++) {
      client.create(CmAbi.PS_TCP, i);
    }
    Struct one = new Struct(24).u64(8, CmProgram.MEMORY).u16(16, CmAbi.PS_TCP);
    assertThat(client.run(CmAbi.CREATE_ID, one)).isEqualTo(Errno.ENOMEM);
    server.create(CmAbi.PS_TCP, 1);
    connections.close(client.channel);
    assertThat(connections.ids()).isEqualTo(1);
  }

  @Test
  void an_id_moves_to_another_file_with_its_events() {
    server.listen(CmAbi.PS_TCP, 0, PORT, 8);
    int id = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(id, 1, "")).isZero();
    assertThat(server.reject(server.next().id(), "")).isZero();
    CmProgram second = new CmProgram(connections, client);
    second.succeed(CmAbi.MIGRATE_ID, new Struct(16).u64(0, CmProgram.MEMORY).u32(8, id).u32(12, 3));
    assertThat(second.answer(4).u32(0)).isEqualTo(2);
    client.expectNothing();
    second.expect(CmAbi.REJECTED, CmAbi.REJ_CONSUMER);
    assertThat(second.destroy(id)).isEqualTo(3);
  }

  @Test
  void a_file_can_be_read_as_long_as_events_wait() {
    int id = client.create(CmAbi.PS_TCP, 1);
    assertThat(client.resolve(id, FIRST, PORT)).isZero();
    client.succeed(CmAbi.RESOLVE_ROUTE, new Struct(8).u32(0, id));
    assertThat(client.readable).isEqualTo(1);
    client.next();
    assertThat(client.channel.takeDrained()).isZero();
    client.next();
    assertThat(client.channel.takeDrained()).isEqualTo(1);
    int other = client.create(CmAbi.PS_TCP, 1);
    assertThat(client.resolve(other, FIRST, PORT)).isZero();
    client.destroy(other);
    assertThat(client.readable).isEqualTo(2);
    assertThat(client.channel.takeDrained()).isEqualTo(1);
  }

  @Test
  void what_a_kernel_refuses_is_refused_with_its_errno() {
    int id = client.routed(CmAbi.PS_TCP, FIRST, PORT);
    assertThat(client.connect(id, 1, "x".repeat(CmAbi.REQ_DATA - CmAbi.IP_HEADER + 1)))
        .isEqualTo(Errno.EINVAL);
    assertThat(client.run(CmAbi.GET_OPTION, new Struct(24))).isEqualTo(Errno.ENOSYS);
    assertThat(client.run(CmAbi.JOIN_MCAST, new Struct(152))).isEqualTo(Errno.EINVAL);
    assertThat(client.run(23, new Struct(64))).isEqualTo(Errno.EINVAL);
    assertThat(client.raw(new byte[7])).isEqualTo(Errno.EINVAL);
    assertThat(client.acceptResponse(id)).isEqualTo(Errno.EINVAL);
    Struct elsewhere = new Struct(24).u64(8, 0x10).u16(16, CmAbi.PS_TCP);
    int ids = connections.ids();
    assertThat(client.run(CmAbi.CREATE_ID, elsewhere)).isEqualTo(Errno.EFAULT);
    assertThat(connections.ids()).isEqualTo(ids);
    assertThat(client.run(CmAbi.GET_EVENT, new Struct(8).u64(0, CmProgram.MEMORY)))
        .isEqualTo(Errno.EAGAIN);
  }

  @Test
  void a_datagram_id_joins_groups_and_leaves_them() {
    int group = 0xef01_0203;
    int id = client.create(CmAbi.PS_UDP, 0xabc);
    assertThat(client.join(id, group, 0x77)).as("without an address").isEqualTo(Errno.EINVAL);
    assertThat(client.bind(id, FIRST, 0)).isZero();
    assertThat(client.join(id, FIRST, 0x77)).as("no group").isEqualTo(Errno.EINVAL);
    assertThat(client.join(id, group, 0x77)).isZero();
    int membership = client.answer(4).u32(0);
    CmProgram.Event joined = client.next();
    assertThat(joined.type()).isEqualTo(CmAbi.MULTICAST_JOIN);
    assertThat(joined.id()).isEqualTo(membership);
    assertThat(joined.userHandle()).isEqualTo(0x77);
    assertThat(joined.queuePair()).isEqualTo(0xff_ffff);
    assertThat(joined.all().u32(24)).isEqualTo(CmId.DATAGRAM_KEY);
    assertThat(joined.all().be64(36)).isEqualTo(Gid.ipv4Low(group));
    assertThat(joined.all().u8(48)).as("index of the sender's GID").isEqualTo(1);
    assertThat(client.leave(membership)).isZero();
    assertThat(client.answer(4).u32(0)).as("events that were read").isEqualTo(1);
    assertThat(client.leave(membership)).isEqualTo(Errno.ENOENT);
    assertThat(client.join(id, group, 0x78)).isZero();
    assertThat(client.leave(client.answer(4).u32(0))).isZero();
    assertThat(client.answer(4).u32(0)).as("an event that nobody reads").isZero();
    client.expectNothing();
    int stream = client.create(CmAbi.PS_TCP, 1);
    assertThat(client.bind(stream, FIRST, 0)).isZero();
    assertThat(client.join(stream, group, 1)).isEqualTo(Errno.EINVAL);
  }
}
