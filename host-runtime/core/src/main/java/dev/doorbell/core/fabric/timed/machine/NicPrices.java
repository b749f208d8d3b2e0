package dev.doorbell.core.fabric.timed.machine;

/**
 * What an HCA's own work costs, in nanoseconds, and how it behaves on PCIe.
 *
 * @param doorbell from the arrival of a doorbell until the fetch of the WQE starts
 * @param wqe parsing a WQE and loading its contexts
 * @param packet from the last payload byte until the first packet may leave
 * @param onChipRead reading payload from on-chip memory
 * @param memoryService from the arrival of a read of on-chip memory until its completion leaves
 * @param maxReadRequest largest read request (MRRS), in bytes
 * @param readTags read requests that may be outstanding; 0 means as many as it takes
 * @param completionBytes cut of completions for reads of on-chip memory; 0 means largest payload
 * @param finer what is known beyond these
 * @param dma its DMA engine
 */
public record NicPrices(
    double doorbell,
    double wqe,
    double packet,
    double onChipRead,
    double memoryService,
    @Price(key = "max_read_request_bytes", least = 128, most = Price.LARGEST_PAYLOAD, power = true)
        int maxReadRequest,
    @Price(most = 15_360) int readTags,
    @Price(least = 64, most = Price.LARGEST_PAYLOAD, power = true, orNone = true)
        int completionBytes,
    NicRefinements finer,
    @Price(key = "dma") DmaPrices dma) {}
