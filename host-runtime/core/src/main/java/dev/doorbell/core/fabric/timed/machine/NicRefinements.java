package dev.doorbell.core.fabric.timed.machine;

/**
 * What an HCA costs beyond the plain prices of {@link NicPrices}, in nanoseconds. A topology may
 * leave out all of it.
 *
 * @param registerService from the arrival of a read of a doorbell page until its completion leaves,
 *     as a fence that flushes posted stores reads it
 * @param receive from a request packet's arrival to its effect at the responder
 * @param acknowledge from an acknowledgement's arrival until the CQE is written
 * @param wqeInterval of the HCA's engine for a WQE: the HCA's ceiling; 0: none
 * @param queueInterval between the starts of two WQEs of one queue pair: the queue pair's ceiling;
 *     0: none
 * @param packetInterval of the same engine for a request packet that arrives; 0: none
 * @param connections queue pairs whose state the HCA holds; 0: all
 * @param connectionMiss from the start of a fetch until another one's state is there, which a
 *     request packet waits for
 * @param connectionFetches of states that are under way together, at least 1
 * @param transmitBytes of memory for payload from the begin of its gather until the wire has taken
 *     it; queue pairs use it in turns; 0: no limit
 * @param fetchBytes of WQEs that are being fetched for all queue pairs, likewise
 */
public record NicRefinements(
    @Price(standard = 0) double registerService,
    @Price(standard = 0) double receive,
    @Price(standard = 0) double acknowledge,
    @Price(standard = 0) double wqeInterval,
    @Price(standard = 0) double queueInterval,
    @Price(standard = 0) double packetInterval,
    @Price(most = 1 << 24, standard = 0) int connections,
    @Price(standard = 0) double connectionMiss,
    @Price(least = 1, most = 1024, standard = 1) int connectionFetches,
    @Price(
            key = "transmit_buffer_bytes",
            least = Price.LARGEST_PAYLOAD,
            most = 1 << 30,
            standard = 0)
        int transmitBytes,
    @Price(key = "wqe_buffer_bytes", least = Price.LARGEST_PAYLOAD, most = 1 << 30, standard = 0)
        int fetchBytes) {}
