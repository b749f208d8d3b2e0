package dev.doorbell.core.hca;

/**
 * Progress of one end of a reliable connection with its own send queue, in blocks and in messages:
 * what joins the WQEs of a ring to the messages that the peer counts. mlx5 has both in the queue
 * pair's context, as {@code hw_sq_wqebb_counter} and {@code ssn}.
 *
 * @param block the block behind the last WQE that was begun, modulo 2^16
 * @param messages begun since the queue pair was connected, modulo 2^24: the SSN. A NOP, a WAIT and
 *     a DUMP are no messages
 */
public record SentRequests(int block, int messages) {}
