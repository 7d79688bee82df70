// A libcuda.so.1 without any function of a driver, as on a path that leads to the wrong folder.
extern "C" {
extern const int shiplap_no_driver;
const int shiplap_no_driver = 0;
}
