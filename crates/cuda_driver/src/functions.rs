//! The driver functions that this crate defines.
//!
//! These are the functions that `api.rs` declares and all that `cust` 0.3.2 calls. A name is the one that the linker
//! sees, with its version suffix (`cuMemAlloc_v2`, not `cuMemAlloc`).

/// Calls the macro `$then` with the name of every function, in ASCII order.
macro_rules! for_each_function {
    ($then:ident) => {
        $then! {
            cuArray3DCreate_v2
            cuArray3DGetDescriptor_v2
            cuArrayDestroy
            cuCtxCreate_v2
            cuCtxDestroy_v2
            cuCtxEnablePeerAccess
            cuCtxGetApiVersion
            cuCtxGetCacheConfig
            cuCtxGetCurrent
            cuCtxGetDevice
            cuCtxGetFlags
            cuCtxGetLimit
            cuCtxGetSharedMemConfig
            cuCtxGetStreamPriorityRange
            cuCtxPopCurrent_v2
            cuCtxPushCurrent_v2
            cuCtxSetCacheConfig
            cuCtxSetCurrent
            cuCtxSetLimit
            cuCtxSetSharedMemConfig
            cuCtxSynchronize
            cuDestroyExternalMemory
            cuDeviceCanAccessPeer
            cuDeviceGet
            cuDeviceGetAttribute
            cuDeviceGetCount
            cuDeviceGetName
            cuDeviceGetPCIBusId
            cuDeviceGetUuid
            cuDevicePrimaryCtxGetState
            cuDevicePrimaryCtxRelease_v2
            cuDevicePrimaryCtxReset_v2
            cuDevicePrimaryCtxRetain
            cuDevicePrimaryCtxSetFlags_v2
            cuDeviceTotalMem_v2
            cuDriverGetVersion
            cuEventCreate
            cuEventDestroy_v2
            cuEventElapsedTime
            cuEventQuery
            cuEventRecord
            cuEventSynchronize
            cuExternalMemoryGetMappedBuffer
            cuFuncGetAttribute
            cuFuncGetModule
            cuFuncSetAttribute
            cuFuncSetCacheConfig
            cuFuncSetSharedMemConfig
            cuGetErrorName
            cuGetErrorString
            cuGraphAddKernelNode
            cuGraphCreate
            cuGraphDebugDotPrint
            cuGraphDestroy
            cuGraphGetEdges
            cuGraphGetNodes
            cuGraphKernelNodeGetParams
            cuGraphNodeGetType
            cuImportExternalMemory
            cuInit
            cuLaunchHostFunc
            cuLaunchKernel
            cuLinkAddData_v2
            cuLinkComplete
            cuLinkCreate_v2
            cuLinkDestroy
            cuMemAdvise
            cuMemAllocAsync
            cuMemAllocFromPoolAsync
            cuMemAllocHost_v2
            cuMemAllocManaged
            cuMemAlloc_v2
            cuMemFreeAsync
            cuMemFreeHost
            cuMemFree_v2
            cuMemGetInfo_v2
            cuMemPoolCreate
            cuMemPoolDestroy
            cuMemPoolGetAttribute
            cuMemPoolSetAccess
            cuMemPoolSetAttribute
            cuMemPoolTrimTo
            cuMemPrefetchAsync
            cuMemcpy2DAsync_v2
            cuMemcpy2D_v2
            cuMemcpyAtoH_v2
            cuMemcpyDtoDAsync_v2
            cuMemcpyDtoD_v2
            cuMemcpyDtoHAsync_v2
            cuMemcpyDtoH_v2
            cuMemcpyHtoA_v2
            cuMemcpyHtoDAsync_v2
            cuMemcpyHtoD_v2
            cuMemcpyPeerAsync
            cuMemsetD16Async
            cuMemsetD16_v2
            cuMemsetD32Async
            cuMemsetD32_v2
            cuMemsetD8Async
            cuMemsetD8_v2
            cuModuleGetFunction
            cuModuleGetGlobal_v2
            cuModuleLoad
            cuModuleLoadData
            cuModuleLoadDataEx
            cuModuleUnload
            cuOccupancyAvailableDynamicSMemPerBlock
            cuOccupancyMaxActiveBlocksPerMultiprocessor
            cuOccupancyMaxPotentialBlockSize
            cuPointerGetAttribute
            cuPointerGetAttributes
            cuStreamCreate
            cuStreamCreateWithPriority
            cuStreamDestroy_v2
            cuStreamGetCtx
            cuStreamGetFlags
            cuStreamGetPriority
            cuStreamQuery
            cuStreamSynchronize
            cuStreamWaitEvent
            cuSurfObjectCreate
            cuSurfObjectDestroy
            cuSurfObjectGetResourceDesc
            cuTexObjectCreate
            cuTexObjectDestroy
            cuTexObjectGetResourceDesc
            cuTexObjectGetResourceViewDesc
        }
    };
}

macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name)),*] };
}

/// The names of the driver functions that this crate defines for the linker, in ASCII order.
pub const FUNCTIONS: &[&str] = for_each_function!(names);

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn names_are_sorted_and_unique() {
        for pair in FUNCTIONS.windows(2) {
            assert!(pair[0] < pair[1], "{} before {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn names_are_driver_functions() {
        for name in FUNCTIONS {
            let rest = name.strip_prefix("cu").unwrap_or_default();
            assert!(rest.starts_with(|first: char| first.is_ascii_uppercase()), "{name}");
        }
    }
}
