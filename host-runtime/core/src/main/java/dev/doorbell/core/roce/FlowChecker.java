package dev.doorbell.core.roce;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.roce.generated.Bth;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Follows the reliable connections of a capture and says what breaks the rules of the transport
 * (InfiniBand specification, chapters 9.4 to 9.7): header and ICRC errors, gaps of sequence
 * numbers, messages out of order, lengths that do not add up, answers without a request.
 *
 * <p>A capture may start in the middle of a connection; what is not known yet is learned from the
 * first packet that shows it. Retransmissions and NAKs are part of the protocol and no errors: they
 * are noted. Other transports are checked header by header alone.
 */
public final class FlowChecker {
  /** Partition bits of a P_Key; the highest bit is full membership (InfiniBand, chapter 10.9.1). */
  private static final int PARTITION_BITS = 0x7fff;

  /** Requests that a capture may lose in a row before an answer is not taken for theirs. */
  private static final int LOST_REQUESTS = 64;

  private final Map<FlowKey, RequestFlow> flows = new LinkedHashMap<>();
  private final Icrc icrc = new Icrc();
  private int problems;
  private int packets;

  /** Who asks whom: requests of a connection go to one queue pair of one host. */
  private record FlowKey(Gid requester, Gid responder, int responderQpn) {}

  /**
   * The findings about one packet.
   *
   * @param problems rules that it breaks; empty when it is right
   * @param notes what is worth knowing: a retransmission, a NAK
   */
  public record Findings(List<String> problems, List<String> notes) {
    Findings() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void problem(String text) {
      problems.add(text);
    }

    void note(String text) {
      notes.add(text);
    }
  }

  /**
   * Checks the next packet of the capture.
   *
   * @param whole false for a packet of which only the start is there: its ICRC is not checked
   */
  public Findings check(RoceFrame frame, boolean whole) {
    packets++;
    Findings findings = new Findings();
    checkHeaders(frame, whole, findings);
    if (BthOpcode.transport(frame.opcode) == BthOpcode.RC
        || BthOpcode.transport(frame.opcode) == BthOpcode.DOORBELL) {
      if (BthOpcode.isResponse(frame.opcode)) {
        checkResponse(frame, findings);
      } else {
        FlowKey key = new FlowKey(frame.source(), frame.destination(), Bth.destination(frame.bth));
        flows
            .computeIfAbsent(key, _ -> new RequestFlow(sourcePort(frame)))
            .request(frame, findings);
      }
    }
    problems += findings.problems.size();
    return findings;
  }

  public int expectedIcrc(RoceFrame frame) {
    return icrc.of(frame);
  }

  private void checkHeaders(RoceFrame frame, boolean whole, Findings findings) {
    int expected = icrc.of(frame);
    int found = Icrc.read(frame.icrc);
    if (whole && found != expected) {
      findings.problem(
          "ICRC is 0x%08x, should be 0x%08x"
              .formatted(BigEndian.swap(found), BigEndian.swap(expected)));
    }
    if (!frame.ipv6 && !Ipv4Header.isChecksumRight(frame.ip)) {
      findings.problem("IPv4 header checksum is wrong");
    }
    if (BthOpcode.isResponse(frame.opcode) && Bth.isAckRequested(frame.bth)) {
      findings.problem("a response asks for an ACK");
    }
    int partition = Bth.partitionKey(frame.bth);
    if ((partition & PARTITION_BITS) == 0) {
      findings.problem(
          "P_Key 0x%04x is no partition: its lower 15 bits are 0".formatted(partition));
    }
    if (frame.trafficClass() % 4 == 3) {
      findings.note("congestion experienced");
    }
  }

  private void checkResponse(RoceFrame frame, Findings findings) {
    RequestFlow flow = flowOf(frame, 0);
    flow = flow == null ? flowOf(frame, LOST_REQUESTS) : flow;
    if (flow == null) {
      if (flows.keySet().stream().anyMatch(key -> isAnswerTo(key, frame))) {
        findings.problem("answers a packet that was not sent");
      } else {
        findings.note("its requests are not in the capture");
      }
      return;
    }
    flow.response(frame, findings);
  }

  private static boolean isAnswerTo(FlowKey key, RoceFrame frame) {
    return key.requester.equals(frame.destination()) && key.responder.equals(frame.source());
  }

  /**
   * The requests that a response belongs to. A response names the requester's queue pair, which no
   * request does: the first response of a connection is matched by hosts, sequence number and,
   * where several fit, source port.
   */
  private @Nullable RequestFlow flowOf(RoceFrame frame, int lost) {
    int qpn = Bth.destination(frame.bth);
    RequestFlow match = null;
    for (Map.Entry<FlowKey, RequestFlow> entry : flows.entrySet()) {
      RequestFlow flow = entry.getValue();
      if (!isAnswerTo(entry.getKey(), frame)) {
        continue;
      }
      if (flow.requesterQpn == qpn) {
        return flow;
      }
      boolean better = match == null || flow.sourcePort == sourcePort(frame);
      if (flow.requesterQpn < 0 && flow.expects(Bth.psn(frame.bth), lost) && better) {
        match = flow;
      }
    }
    if (match != null) {
      match.requesterQpn = qpn;
    }
    return match;
  }

  private static int sourcePort(RoceFrame frame) {
    return frame.udp == 0 ? 0 : UdpHeader.sourcePort(frame.udp);
  }

  /** Packets checked so far. */
  public int packets() {
    return packets;
  }

  /** Rules broken so far. */
  public int problems() {
    return problems;
  }

  /** Reliable connections seen so far, one for each direction in which requests went. */
  public int flows() {
    return flows.size();
  }
}
