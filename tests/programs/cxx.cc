// Shows the class of std::thread and std::async threads, and that an exception passes from one.
#include "show.h"
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

int main()
{
	show("main");
	std::vector<std::thread> threads;
	for (int i = 1; i <= 3; i++) {
		threads.emplace_back([i] { show(std::to_string(i).c_str()); });
		threads.back().join();
	}
	std::async(std::launch::async, [] { show("async"); }).get();
	try {
		std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); }).get();
		check("exception", 0, "nothing thrown");
	} catch (const std::runtime_error &) {
		check("exception", 1, "");
	}
	return check("hardware_concurrency", std::thread::hardware_concurrency() > 0, "0");
}
