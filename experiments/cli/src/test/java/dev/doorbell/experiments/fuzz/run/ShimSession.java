package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.client.SharedFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Messages to the server of the preload library, after a right greeting (protocol.h of
 * host-runtime/uverbs-shim): of a device, or of an rdma_cm file where the first message is one of
 * it. The client is this process, so what would be an address in it is moved into a window: the
 * input's bytes lie there, and the bytes on both sides of it must stay as they are. A program that
 * has another one's memory at its address is a test of its own ({@code hostile.c}).
 */
final class ShimSession implements FuzzTarget.Session {
  private static final int MAGIC = 0x5655_4244;
  private static final int VERSION = 9;
  private static final int DEVICE = 1;
  private static final int CONNECTIONS = 3;
  private static final int IOCTL = 1;
  private static final int ANSWER = 3;

  /** What is written to an rdma_cm file. */
  private static final int CONNECT = 6;

  private static final int HELLO_BYTES = 32;
  private static final int WELCOME_BYTES = 24;
  private static final int HEAD_BYTES = 16;
  private static final int COMMAND_BYTES = 24;
  private static final int ATTRIBUTE_BYTES = 16;
  private static final int PORT = 7174;
  private static final int STEPS_BETWEEN_SEEDS = 6;
  private static final int MOST_BYTES = 60_000;

  /** The window has room for an address of 16 bits and a length of 16 bits behind it. */
  private static final int GUARD = 1 << 16;

  private static final int WINDOW = 1 << 17;

  /** Commands on an rdma_cm file that read or write the program's memory. */
  private static final Set<Integer> ANSWERED = Set.of(0, 1, 5, 11, 12, 14, 18, 19);

  private static final byte UNTOUCHED = 0x5a;

  private final Path folder = Files.createTempDirectory("doorbell-fuzz");
  private final ShimServer server = new ShimServer(folder.resolve("hca"), ShimOptions.of(1));
  private final SharedFile file = new SharedFile();
  private final MemorySegment memory = Arena.ofAuto().allocate(2L * GUARD + WINDOW, 4096);
  private final ByteBuffer answers =
      ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);

  ShimSession() throws IOException {
    memory.fill(UNTOUCHED);
  }

  private long window() {
    return memory.address() + GUARD;
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    // ALLOC_PD, QUERY_DEVICE, CREATE_COMP_CHANNEL and REG_MR by INVOKE_WRITE; their structures
    // lie behind the message.
    for (int command : new int[] {3, 1, 17, 9}) {
      seeds.add(
          message(
              0,
              0,
              attribute(2, 4, command),
              attribute(0, 40, 256),
              attribute(1, 4096, 512),
              attribute(0x1001, 64, 512)));
    }
    seeds.add(
        message(0, 3, attribute(0, 4, 0), attribute(0x1000, 32, 256), attribute(0x1001, 72, 512)));
    seeds.add(message(0, 2, attribute(0, 1, 1), attribute(1, 48, 512)));
    seeds.add(message(16, 0, attribute(0, 8, 0)));
    seeds.add(
        message(
            3,
            0,
            attribute(0, 0, 0),
            attribute(1, 4, 16),
            attribute(2, 8, 7),
            attribute(4, 4, 0),
            attribute(6, 4, 512),
            attribute(0x1000, 32, 256),
            attribute(0x1001, 8, 512)));
    seeds.add(
        message(
            0x1008,
            0x1000,
            attribute(0x1000, 8, 0),
            attribute(0x1001, 1, 0),
            attribute(0x1002, 8, 512),
            attribute(0x1003, 4, 520),
            attribute(0x1004, 4, 528)));
    seeds.add(
        message(
            0x1001,
            0x1000,
            attribute(0x1000, 8, 0),
            attribute(0x1001, 272, 256),
            attribute(0x1002, 16, 512)));
    seeds.addAll(connectionSeeds());
    return seeds;
  }

  /** Both ends of a connection on one file, as far as each command goes, and its end. */
  private static List<byte[]> connectionSeeds() {
    Struct address = new Struct(16).u16(0, 2).be16(2, PORT).be32(4, 0x7f00_0001);
    byte[] create = connect(0, new Struct(24).u64(8, 512).u16(16, 0x106));
    byte[] event = connect(12, new Struct(8).u64(0, 512));
    List<byte[]> steps =
        List.of(
            create,
            connect(20, new Struct(136).u16(4, 16).copy(address, 0, 8, 16)),
            connect(7, new Struct(8)),
            create,
            connect(21, new Struct(272).u32(0, 1).u16(10, 16).copy(address, 0, 144, 16)),
            event,
            connect(4, new Struct(8).u32(0, 1)),
            connect(19, new Struct(16).u64(0, 512).u32(8, 1).u32(12, 1)),
            connect(6, new Struct(288).u32(0, 7).u8(271, 1).u32(272, 1)),
            event,
            event,
            connect(11, new Struct(16).u64(0, 512).u32(8, 2).u32(12, 2)),
            connect(8, new Struct(296).u32(8, 8).u8(279, 1).u32(280, 2)),
            connect(8, new Struct(296).u32(280, 1)),
            connect(10, new Struct(8).u32(0, 1)),
            connect(10, new Struct(8).u32(0, 2)),
            connect(9, new Struct(264).u32(0, 2)),
            connect(14, new Struct(24).u64(0, 512).u32(8, 1).u32(20, 1)),
            connect(1, new Struct(16).u64(0, 512).u32(8, 0)));
    List<byte[]> seeds = new ArrayList<>();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < steps.size(); i++) {
      all.writeBytes(steps.get(i));
      if (i % STEPS_BETWEEN_SEEDS == 0) {
        seeds.add(all.toByteArray());
      }
    }
    return seeds;
  }

  private static byte[] connect(int command, Struct content) {
    int bytes = 2 * Long.BYTES + content.size();
    return new Struct(HEAD_BYTES + bytes)
        .u32(0, bytes)
        .u32(4, CONNECT)
        .u32(HEAD_BYTES + 8, command)
        .u16(HEAD_BYTES + 12, content.size())
        .u16(HEAD_BYTES + 14, 512)
        .copy(content, 0, HEAD_BYTES + 16, content.size())
        .content();
  }

  private static byte[] attribute(int id, int length, long data) {
    return ByteBuffer.allocate(ATTRIBUTE_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort((short) id)
        .putShort((short) length)
        .putInt(1)
        .putLong(length > Long.BYTES || data > 255 ? data | 1L << 32 : data)
        .array();
  }

  private static byte[] message(int object, int method, byte[]... attributes) {
    int command = COMMAND_BYTES + attributes.length * ATTRIBUTE_BYTES;
    ByteBuffer bytes =
        ByteBuffer.allocate(HEAD_BYTES + Long.BYTES + command).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(Long.BYTES + command).putInt(IOCTL).putInt(0).putInt(0).putLong(0);
    bytes.putShort((short) command).putShort((short) object).putShort((short) method);
    bytes.putShort((short) attributes.length).putLong(0).putInt(1).putInt(0);
    for (byte[] each : attributes) {
      bytes.put(each);
    }
    return bytes.array();
  }

  @Override
  public List<byte[]> dictionary() {
    List<byte[]> words = new ArrayList<>(seeds());
    for (int value : new int[] {0x1000, 0x1001, 1 << 16 | 1, 0x0400_0000, 0x0500_0000}) {
      words.add(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    }
    words.add(new byte[ATTRIBUTE_BYTES]);
    return words;
  }

  @Override
  public Outcome read(byte[] input) throws IOException {
    int length = Math.min(input.length, MOST_BYTES);
    MemorySegment.copy(input, 0, memory, ValueLayout.JAVA_BYTE, GUARD, length);
    ByteBuffer messages = ByteBuffer.wrap(input, 0, length).order(ByteOrder.LITTLE_ENDIAN);
    moveAddresses(messages);
    ByteBuffer hello = ByteBuffer.allocate(HELLO_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    boolean connects = length > HEAD_BYTES && messages.getInt(Integer.BYTES) == CONNECT;
    hello
        .putInt(MAGIC)
        .putInt(VERSION)
        .putInt(connects ? CONNECTIONS : DEVICE)
        .putInt(0)
        .putInt(file.descriptor());
    hello.putInt(0).putLong(0).flip();
    answers.clear();
    try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      client.connect(UnixDomainSocketAddress.of(server.folder().resolve("socket")));
      client.configureBlocking(false);
      client.write(hello);
      messages.position(0);
      client.write(messages);
      client.shutdownOutput();
      do {
        server.step();
        read(client);
      } while (server.connections() > 0);
      read(client);
    }
    for (int at = 0; at < GUARD; at += Long.BYTES) {
      long word = 0x0101_0101_0101_0101L * UNTOUCHED;
      if (memory.get(ValueLayout.JAVA_LONG, at) != word
          || memory.get(ValueLayout.JAVA_LONG, GUARD + WINDOW + at) != word) {
        return Outcome.MEMORY_CHANGED;
      }
    }
    return hasSucceeded() ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  private void read(SocketChannel client) {
    try {
      while (answers.hasRemaining() && client.read(answers) > 0) {
        // Until nothing is there.
      }
    } catch (IOException e) {
      answers.limit(answers.position()); // The server has ended the connection.
    }
  }

  /** Moves the address of each command, and what is no small number in its attributes, inside. */
  private void moveAddresses(ByteBuffer messages) {
    int at = 0;
    while (at + HEAD_BYTES + Long.BYTES <= messages.limit()) {
      long bytes = messages.getInt(at) & 0xffff_ffffL;
      int payload = at + HEAD_BYTES;
      int end = (int) Math.min(messages.limit(), payload + bytes);
      if (messages.getInt(at + Integer.BYTES) == CONNECT) {
        moveAnswer(messages, payload + Long.BYTES, end);
        at = end;
        continue;
      }
      messages.putLong(payload, window() + (messages.getLong(payload) & 0xfff8));
      for (int data = payload + Long.BYTES + COMMAND_BYTES + Long.BYTES;
          data + Long.BYTES <= end;
          data += ATTRIBUTE_BYTES) {
        long value = messages.getLong(data);
        if (value >>> Short.SIZE != 0) {
          messages.putLong(data, window() + (value & 0xffff));
        }
      }
      at = end;
    }
  }

  /** Moves where the answer of a command on an rdma_cm file goes: its first or second 8 bytes. */
  private void moveAnswer(ByteBuffer messages, int command, int end) {
    if (command + Integer.BYTES > end) {
      return;
    }
    int answer = command + Long.BYTES + (messages.getInt(command) == 0 ? Long.BYTES : 0);
    boolean answers = ANSWERED.contains(messages.getInt(command));
    if (answers && answer + Long.BYTES <= end) {
      messages.putLong(answer, window() + (messages.getLong(answer) & 0xffff));
    }
  }

  /** True when the server has carried out one of the commands. */
  private boolean hasSucceeded() {
    int end = answers.position();
    for (int at = WELCOME_BYTES; at + HEAD_BYTES <= end; at += HEAD_BYTES + answers.getInt(at)) {
      if (answers.getInt(at + Integer.BYTES) == ANSWER && answers.getInt(at + Long.BYTES) == 0) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    try {
      server.close();
      file.close();
      Files.deleteIfExists(folder.resolve("hca"));
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      throw new IllegalStateException("the fuzz leaves files in " + folder, e);
    }
  }
}
