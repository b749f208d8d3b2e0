package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.roce.FlowChecker;
import dev.doorbell.core.roce.RoceFrame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Reads captures of our own back. */
final class Flows {
  private Flows() {}

  /**
   * What is wrong with a capture.
   *
   * @param each sees every RoCE frame
   */
  static List<String> problems(Path capture, Consumer<RoceFrame> each) {
    FlowChecker checker = new FlowChecker();
    List<String> problems = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(1 << 16);
      RoceFrame frame = new RoceFrame(0);
      for (CapturedFrame captured : CaptureReader.read(capture).frames()) {
        byte[] bytes = captured.bytes();
        RawMemory.copyIn(MemorySegment.ofArray(bytes), 0, memory.address(), bytes.length);
        RoceFrame.Verdict verdict = frame.parse(memory.address(), bytes.length);
        if (verdict == RoceFrame.Verdict.OTHER) {
          continue;
        }
        assertThat(verdict).as("frame %d", captured.number()).isEqualTo(RoceFrame.Verdict.ROCE);
        each.accept(frame);
        checker
            .check(frame, true)
            .problems()
            .forEach(problem -> problems.add("frame " + captured.number() + ": " + problem));
      }
    } catch (IOException | CaptureException e) {
      throw new IllegalStateException(e);
    }
    return problems;
  }
}
