// Work on a thread of its own, which shares nothing with whoever began it until it is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace banditree {

std::int64_t process_id();

// One piece of work at a time. To be used by one thread at a time, but for `Waiting`.
template <class Result>
class Beside {
    struct Work {
        std::atomic<bool> is_done = false;
        std::optional<Result> result;
        std::exception_ptr error;
    };

 public:
    // Waits for work to be done, on any thread, whatever becomes of whoever began it.
    class Waiting {
     public:
        explicit Waiting(std::shared_ptr<const Work> work) : work_(std::move(work)) {}
        void wait() const {
            if (work_) work_->is_done.wait(false, std::memory_order_acquire);
        }

     private:
        std::shared_ptr<const Work> work_;
    };

    Beside() = default;
    Beside(Beside&&) = default;
    ~Beside() { abandon(); }

    // job() gives the result, and is destroyed on its thread; it owns all that it works on. Where
    // there is no thread to be had, it is done at once.
    template <class Job>
    void start(Job job) {
        auto shared = std::make_shared<Job>(std::move(job));
        work_ = std::make_shared<Work>();
        process_ = process_id();
        try {
            std::thread([work = work_, shared] { run(*work, *shared); }).detach();
        } catch (const std::exception&) {
            run(*work_, *shared);
        }
    }
    // Whether work was begun whose result nobody has taken yet.
    bool is_busy() {
        leave_to_parent();
        return work_ != nullptr;
    }
    bool is_done() { return is_busy() && work_->is_done.load(std::memory_order_acquire); }
    // What was done; throws what the job threw.
    Result take() {
        const std::shared_ptr<Work> work = std::move(work_);
        if (work->error) std::rethrow_exception(work->error);
        return *std::move(work->result);
    }
    // The thread goes on until its work is done, and nobody hears of it.
    void abandon() {
        leave_to_parent();
        work_ = nullptr;
    }
    Waiting waiting() {
        leave_to_parent();
        return Waiting(work_);
    }

 private:
    template <class Job>
    static void run(Work& work, Job& job) {
        try {
            work.result.emplace(job());
        } catch (...) {
            work.error = std::current_exception();
        }
        work.is_done.store(true, std::memory_order_release);
        work.is_done.notify_all();
    }
    // A forked process has no such thread: what it left half done is neither read nor freed.
    void leave_to_parent() {
        if (work_ == nullptr || process_ == process_id()) return;
        new std::shared_ptr<Work>(std::move(work_));
        work_ = nullptr;
    }

    std::shared_ptr<Work> work_;
    std::int64_t process_ = 0;
};

}  // namespace banditree
