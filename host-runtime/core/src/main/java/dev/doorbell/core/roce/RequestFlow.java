package dev.doorbell.core.roce;

import dev.doorbell.core.roce.FlowChecker.Findings;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.Reth;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** The requests of one direction of a reliable connection, and the answers to them. */
final class RequestFlow {
  private static final int UNKNOWN = -1;
  private static final int LARGEST_MTU = 4096;

  /** Questions remembered at most, so that duplicates of answered ones are understood. */
  private static final int REMEMBERED = 256;

  final int sourcePort;

  /** Queue pair that responses name; learned from the first one. */
  int requesterQpn = UNKNOWN;

  private int nextPsn = UNKNOWN;
  private int firstPsn = UNKNOWN;
  private int mtu = UNKNOWN;
  private int msn = UNKNOWN;
  private final MessageCount count = new MessageCount();

  // The WRITE that comes again: the number of its next packet, its length, its bytes so far.
  private int againPsn = UNKNOWN;
  private long againLength;
  private long againSent;

  /** The number after the last answer to what was not sent: the same READ goes on with it. */
  private int afterUnasked = UNKNOWN;

  // The message that is under way.
  private @Nullable String message;
  private boolean lengthKnown;
  private long messageLength;
  private long sent;

  /** READs and atomics, oldest first. */
  private final Deque<OutstandingRequest> outstanding = new ArrayDeque<>();

  /** A READ or an atomic. */
  private static final class OutstandingRequest {
    final int psn;
    final boolean read;
    final long length;
    long received;

    OutstandingRequest(int psn, boolean read, long length) {
      this.psn = psn;
      this.read = read;
      this.length = length;
    }
  }

  RequestFlow(int sourcePort) {
    this.sourcePort = sourcePort;
  }

  private static int ahead(int a, int b) {
    return (a - b) << 8 >> 8;
  }

  /**
   * Returns true if a response with this number may be to one of these requests, or to one of the
   * next {@code lost}, which the capture may have lost.
   */
  boolean expects(int psn, int lost) {
    return nextPsn != UNKNOWN && ahead(psn, nextPsn) < lost && ahead(psn, firstPsn) >= 0;
  }

  void request(RoceFrame frame, Findings findings) {
    int psn = Bth.psn(frame.bth);
    if (nextPsn == UNKNOWN) {
      firstPsn = psn;
      nextPsn = psn;
    }
    learnMtuFromRead(psn);
    int ahead = ahead(psn, nextPsn);
    if (ahead < 0) {
      findings.note("sent again");
      resend(frame, psn, findings);
      return;
    }
    if (ahead > 0) {
      findings.problem("PSN 0x%06x where 0x%06x is due: %d missing".formatted(psn, nextPsn, ahead));
      message = null;
      lengthKnown = false;
      count.onGap(ahead);
    }
    if (BthOpcode.hasPayload(frame.opcode) && !isSingle(frame.opcode)) {
      data(frame, findings, ahead > 0);
      nextPsn = psn + 1 & Bth.MASK_24;
    } else {
      request(frame, psn, findings);
    }
  }

  /** Requests that a READ response without payload answers: FLUSH and ATOMIC_WRITE, also of XRC. */
  private static boolean isSingle(int opcode) {
    int operation = opcode & ~BthOpcode.TRANSPORT_MASK;
    return operation == BthOpcode.FLUSH || operation == BthOpcode.ATOMIC_WRITE;
  }

  /** The number of PSNs of the last READ gives the path MTU. */
  private void learnMtuFromRead(int psn) {
    OutstandingRequest last = outstanding.peekLast();
    if (mtu != UNKNOWN || last == null || !last.read || last.length == 0) {
      return;
    }
    int taken = ahead(psn, last.psn);
    for (int candidate = 256; candidate <= LARGEST_MTU; candidate *= 2) {
      if (taken == packets(last.length, candidate) && psn != nextPsn) {
        mtu = candidate;
        nextPsn = psn;
      }
    }
  }

  private static int packets(long length, int mtu) {
    return length == 0 ? 1 : (int) ((length + mtu - 1) / mtu);
  }

  /** A resent READ may ask for the rest alone; it is remembered as a request of its own. */
  private void resend(RoceFrame frame, int psn, Findings findings) {
    if (BthOpcode.hasPayload(frame.opcode) && !isSingle(frame.opcode)) {
      resendData(frame, psn, findings);
    }
    if (frame.opcode == BthOpcode.READ_REQUEST) {
      long length = Reth.length(frame.header(BthOpcode.RETH)) & 0xffff_ffffL;
      remember(new OutstandingRequest(psn, true, length));
    }
  }

  /** Checks retransmitted data: a WRITE is followed from its RETH to its end. */
  private void resendData(RoceFrame frame, int psn, Findings findings) {
    if ((frame.headers & BthOpcode.RETH) != 0) {
      againLength = Reth.length(frame.header(BthOpcode.RETH)) & 0xffff_ffffL;
      againSent = 0;
    } else if (BthOpcode.isFirst(frame.opcode) || psn != againPsn) {
      againPsn = UNKNOWN;
      return;
    }
    boolean full = BthOpcode.isFull(frame.opcode);
    againSent += frame.payloadBytes;
    if (full ? againSent >= againLength : againSent != againLength) {
      findings.problem(
          "sent again with %d bytes so far, and its RETH has %d".formatted(againSent, againLength));
    }
    againPsn = full ? psn + 1 & Bth.MASK_24 : UNKNOWN;
  }

  private void data(RoceFrame frame, Findings findings, boolean afterGap) {
    int opcode = frame.opcode;
    boolean first = BthOpcode.isFirst(opcode);
    boolean full = BthOpcode.isFull(opcode);
    String kind = BthOpcode.name(opcode).contains("WRITE") ? "WRITE" : "SEND";
    String before = message;
    if (first && before != null) {
      findings.problem("a new message inside an unfinished " + before);
    } else if (!first && before == null && !afterGap && ahead(nextPsn, firstPsn) > 0) {
      findings.problem("the middle of a message that did not begin");
    } else if (!first && before != null && !before.equals(kind)) {
      findings.problem("a %s inside a %s".formatted(kind, before));
    }
    if (first) {
      sent = 0;
      lengthKnown = (frame.headers & BthOpcode.RETH) != 0;
      if (lengthKnown) {
        messageLength = Reth.length(frame.header(BthOpcode.RETH)) & 0xffff_ffffL;
      }
    }
    checkSize(frame, full, findings);
    sent += frame.payloadBytes;
    if (lengthKnown && (full ? sent >= messageLength : sent != messageLength)) {
      findings.problem(
          "%d bytes so far of a WRITE of %d%s"
              .formatted(sent, messageLength, full ? ", and more to come" : ", at its end"));
    }
    message = full ? kind : null;
    if (!full) {
      count.onMessage(Bth.psn(frame.bth), false);
    }
  }

  private void checkSize(RoceFrame frame, boolean full, Findings findings) {
    int bytes = frame.payloadBytes;
    if (full && mtu == UNKNOWN) {
      if (Integer.bitCount(bytes) == 1 && bytes >= 256 && bytes <= LARGEST_MTU) {
        mtu = bytes;
      } else {
        findings.problem("a FIRST or MIDDLE of %d bytes, which is no path MTU".formatted(bytes));
      }
    } else if (full && bytes != mtu) {
      findings.problem("a FIRST or MIDDLE of %d bytes, the path MTU is %d".formatted(bytes, mtu));
    } else if (bytes > (mtu == UNKNOWN ? LARGEST_MTU : mtu)) {
      findings.problem("%d bytes of payload, more than the path MTU".formatted(bytes));
    } else if (bytes == 0 && !full && !BthOpcode.isFirst(frame.opcode)) {
      findings.problem("a LAST without payload");
    }
  }

  private void request(RoceFrame frame, int psn, Findings findings) {
    if (message != null) {
      findings.problem(
          "%s inside an unfinished %s".formatted(BthOpcode.name(frame.opcode), message));
      message = null;
    }
    boolean single = isSingle(frame.opcode);
    boolean read = single || frame.opcode == BthOpcode.READ_REQUEST;
    long length = 0;
    if (single) {
      checkSingle(frame, findings);
    } else if (read) {
      length = Reth.length(frame.header(BthOpcode.RETH)) & 0xffff_ffffL;
    } else if (frame.opcode == BthOpcode.COMPARE_SWAP || frame.opcode == BthOpcode.FETCH_ADD) {
      if ((AtomicEth.virtualAddress(frame.extended) & 7) != 0) {
        findings.problem("an atomic at an address that is no multiple of 8");
      }
    }
    remember(new OutstandingRequest(psn, read, length));
    int taken = read && mtu != UNKNOWN ? packets(length, mtu) : 1;
    nextPsn = psn + taken & Bth.MASK_24;
    count.onMessage(psn + taken - 1 & Bth.MASK_24, true);
  }

  private static void checkSingle(RoceFrame frame, Findings findings) {
    if (frame.opcode == BthOpcode.ATOMIC_WRITE
        && (frame.payloadBytes != Long.BYTES
            || (Reth.virtualAddress(frame.header(BthOpcode.RETH)) & 7) != 0)) {
      findings.problem("an ATOMIC_WRITE has 8 bytes for an address that is a multiple of 8");
    }
  }

  private void remember(OutstandingRequest request) {
    outstanding.addLast(request);
    if (outstanding.size() > REMEMBERED) {
      outstanding.removeFirst();
    }
  }

  void response(RoceFrame frame, Findings findings) {
    int psn = Bth.psn(frame.bth);
    if (frame.opcode == BthOpcode.READ_RESPONSE_FIRST && mtu == UNKNOWN) {
      mtu = frame.payloadBytes;
      OutstandingRequest last = outstanding.peekLast();
      if (last != null && last.read && ahead(nextPsn, last.psn) == 1) {
        nextPsn = last.psn + packets(last.length, mtu) & Bth.MASK_24;
      }
    }
    int syndrome =
        frame.opcode == BthOpcode.ACKNOWLEDGE
            ? Aeth.syndrome(frame.header(BthOpcode.AETH))
            : Aeth.ACK;
    // A sequence NAK names what is due, which may be one more than was sent last.
    int over = ahead(psn, nextPsn) - (syndrome == Aeth.NAK_SEQUENCE ? 1 : 0);
    if (over >= 0) {
      if (psn != afterUnasked || frame.opcode == BthOpcode.ACKNOWLEDGE) {
        findings.problem("answers PSN 0x%06x, which was not sent".formatted(psn));
      }
      afterUnasked = psn + 1 & Bth.MASK_24;
      count.onGap(over + 1);
      nextPsn = psn + 1 & Bth.MASK_24;
      message = null;
      lengthKnown = false;
    }
    if ((frame.headers & BthOpcode.AETH) != 0) {
      checkAeth(frame, psn, findings);
    }
    if (over < 0) {
      answer(frame, psn, findings);
    }
  }

  private void answer(RoceFrame frame, int psn, Findings findings) {
    if (ahead(psn, firstPsn) < 0) {
      findings.note("answers what is before the capture");
    } else if (frame.opcode == BthOpcode.ATOMIC_ACKNOWLEDGE) {
      if (requestOf(psn, false) == null) {
        findings.problem("the answer of an atomic where none was asked");
      }
    } else if (frame.opcode != BthOpcode.ACKNOWLEDGE) {
      readResponse(frame, psn, findings);
    }
  }

  private void checkAeth(RoceFrame frame, int psn, Findings findings) {
    long at = frame.header(BthOpcode.AETH);
    int syndrome = Aeth.syndrome(at);
    int now = Aeth.msn(at);
    if (!Aeth.isAck(syndrome)) {
      if (frame.opcode != BthOpcode.ACKNOWLEDGE) {
        findings.problem("a NAK with an answer");
      }
      if (!Aeth.isRnrNak(syndrome)
          && (syndrome < Aeth.NAK_SEQUENCE || syndrome > Aeth.NAK_INVALID_RD_REQUEST)) {
        findings.problem("syndrome 0x%02x is reserved".formatted(syndrome));
      } else {
        findings.note(Aeth.text(syndrome));
      }
    }
    if (msn != UNKNOWN && ahead(now, msn) < 0 && frame.opcode == BthOpcode.ACKNOWLEDGE) {
      findings.problem("MSN goes back from %d to %d".formatted(msn, now));
    }
    int most = count.refuted(now, Aeth.isAck(syndrome) ? psn : psn - 1);
    if (most >= 0) {
      findings.problem(
          "MSN is %d, and no more than %d messages can be complete".formatted(now, most));
    } else if (msn == UNKNOWN || ahead(now, msn) > 0) {
      msn = now;
    }
  }

  private @Nullable OutstandingRequest requestOf(int psn, boolean read) {
    for (Iterator<OutstandingRequest> newest = outstanding.descendingIterator();
        newest.hasNext(); ) {
      OutstandingRequest request = newest.next();
      int packets = read && mtu != UNKNOWN ? packets(request.length, mtu) : 1;
      int offset = ahead(psn, request.psn);
      if (request.read == read && offset >= 0 && offset < packets) {
        return request;
      }
    }
    return null;
  }

  private void readResponse(RoceFrame frame, int psn, Findings findings) {
    OutstandingRequest request = requestOf(psn, true);
    if (request == null) {
      findings.problem("a READ response where no READ was asked");
      return;
    }
    boolean only = frame.opcode == BthOpcode.READ_RESPONSE_ONLY;
    boolean first = only || frame.opcode == BthOpcode.READ_RESPONSE_FIRST;
    boolean last = only || frame.opcode == BthOpcode.READ_RESPONSE_LAST;
    if (first) {
      request.received = 0;
    }
    int offset = ahead(psn, request.psn);
    if (first != (offset == 0)) {
      findings.problem("%s is response %d".formatted(BthOpcode.name(frame.opcode), offset));
      return;
    }
    if (mtu != UNKNOWN && request.received != (long) offset * mtu) {
      findings.problem("READ response %d after %d bytes".formatted(offset, request.received));
      request.received = (long) offset * mtu;
    }
    if (!last && frame.payloadBytes != mtu) {
      findings.problem(
          "a READ response of %d bytes, the path MTU is %d".formatted(frame.payloadBytes, mtu));
    }
    request.received += frame.payloadBytes;
    if (last && request.received != request.length) {
      findings.problem("%d bytes answer a READ of %d".formatted(request.received, request.length));
    }
  }
}
